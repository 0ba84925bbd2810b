/**
 * Renders the state of the replay: exactly as many lines as the terminal has rows, none wider than its columns. A title, the step, and
 * the status below.
 */

import { paint, type Style } from "../../../base/terminal-style.js";
import { safeLine } from "../../../base/terminal-text.js";
import { padText, textWidth, truncateText } from "../../../base/text-width.js";
import { costAt, formatDollars, formatTokens, modelAt } from "./cost-marks.js";
import { needlePattern } from "./needle.js";
import { bodyLines, bodyRows, statusRows } from "./replay-body.js";
import type { ReplayState, Size } from "./replay-state.js";
import type { Step } from "./step.js";
import type { LaidLine } from "./step-layout.js";
import { gapText, timeText } from "./time-text.js";

export const NOTHING_RUNS = "replay: nothing is executed";

const SEPARATOR = " · ";

export function viewReplay(state: ReplayState, size: Size = state.size): string[] {
  const lines = bodyLines(state, size);
  const rows = bodyRows(size);
  const from = Math.max(0, Math.min(state.scroll, lines.length - rows));
  const visible = lines.slice(from, from + rows);
  const body = visible.map((line) => paintLine(state, line, size));
  const blank = Array.from({ length: rows - body.length }, () => "");
  const scrolled = lines.length > rows ? `${from + 1}–${from + visible.length}/${lines.length}` : "";
  const screen = [titleLine(state, scrolled, size), ...body, ...blank, ...statusLines(state, size)];
  // The status is dropped last.
  return screen.slice(-size.rows);
}

function titleLine(state: ReplayState, scrolled: string, { columns }: Size): string {
  const step = state.steps[state.at];
  const mark = state.playing ? "▶" : "▌";
  const title = state.help ? "keys" : (state.content?.title ?? step?.kind ?? safeLine(state.facts.title));
  const room = columns - (scrolled === "" ? 0 : textWidth(scrolled) + 1);
  if (room < 12) return painted(state, "bold", truncateText(`${mark} ${title}`, columns));
  const left = truncateText(`${mark} ${title}`, room);
  const style = state.help ? "bold" : (state.content?.style ?? "bold");
  if (scrolled === "") return painted(state, style, left);
  return `${painted(state, style, padText(left, room))} ${painted(state, "dim", scrolled)}`;
}

function paintLine(state: ReplayState, { text, style }: LaidLine, { columns }: Size): string {
  const fitting = truncateText(text, columns);
  if (!state.facts.color || state.needle === "" || state.help) return painted(state, style, fitting);
  const marked = fitting.replace(needlePattern(state.needle), (hit) => `\u001b[7m${hit}\u001b[27m`);
  return painted(state, style, marked);
}

function painted(state: ReplayState, style: Style | undefined, text: string): string {
  return style === undefined || text === "" ? text : paint(state.facts, style, text);
}

interface Item {
  readonly text: string;
  /** If space is short, the least important part is dropped first. */
  readonly importance: number;
}

function statusLines(state: ReplayState, size: Size): string[] {
  const place = placeItems(state);
  const note = noteLine(state, size);
  const about = [
    { text: safeLine(state.facts.title), importance: 2 },
    { text: NOTHING_RUNS, importance: 7 },
    { text: "? help", importance: 1 },
  ];
  if (statusRows(size) === 1) return [note ?? painted(state, "dim", fitItems([...place, ...about], size.columns))];
  return [
    painted(state, "dim", fitItems(place, size.columns)),
    note ?? painted(state, "dim", fitItems(about, size.columns)),
  ];
}

/** A prompt or a message replaces the constant text. */
function noteLine(state: ReplayState, { columns }: Size): string | undefined {
  if (state.prompt !== undefined) {
    const label = state.prompt.kind === "turn" ? "turn: " : "/";
    const text = safeLine(`${label}${state.prompt.text}`);
    // The end of the typed text stays visible.
    const shown = textWidth(text) < columns ? text : `…${lastCells(text, columns - 2)}`;
    return columns < 3 ? truncateText(text, columns) : `${shown}▏`;
  }
  if (state.search !== undefined)
    return truncateText(`Searching “${safeLine(state.search.text)}” … Esc stops`, columns);
  const message = state.message || state.indexed.problem;
  return message ? painted(state, "yellow", truncateText(safeLine(message), columns)) : undefined;
}

function lastCells(text: string, width: number): string {
  const points = Array.from(text);
  while (points.length > 0 && textWidth(points.join("")) > width) points.shift();
  return points.join("");
}

function placeItems(state: ReplayState): Item[] {
  const step = state.steps[state.at];
  const known = state.steps.length;
  const percent = Math.min(99, Math.floor((100 * state.indexed.upTo) / Math.max(1, state.facts.lastEvent)));
  const reading = state.indexed.done ? "" : `+ (${percent}%)`;
  const items: Item[] = [{ text: `step ${known === 0 ? 0 : state.at + 1}/${known}${reading}`, importance: 9 }];
  if (step === undefined) return items;
  const previous = state.steps[state.at - 1];
  const [date = "", time = ""] = timeText(step.at, state.facts.timeZone).split(" ");
  const cost = costAt(state.costs, step.last);
  return [
    ...items,
    { text: `turn ${step.turn}/${state.turnStarts.length}`, importance: 8 },
    { text: date, importance: 1 },
    { text: time, importance: 6 },
    { text: previous === undefined ? "" : gapText(step.at - previous.at), importance: 5 },
    { text: safeLine(modelOf(state, step)), importance: 3 },
    { text: cost === undefined ? "" : formatTokens(cost), importance: 2 },
    { text: cost === undefined || cost.dollars === 0 ? "" : formatDollars(cost), importance: 4 },
  ];
}

function modelOf({ costs, facts }: ReplayState, step: Step): string {
  return modelAt(costs, step) ?? facts.model ?? "";
}

function fitItems(items: readonly Item[], width: number): string {
  const shown = items.filter(({ text }) => text !== "");
  const line = shown.map(({ text }) => text).join(SEPARATOR);
  if (textWidth(line) <= width || shown.length <= 1) return truncateText(line, width);
  const least = shown.reduce((low, item) => (item.importance < low.importance ? item : low));
  return fitItems(
    shown.filter((item) => item !== least),
    width,
  );
}
