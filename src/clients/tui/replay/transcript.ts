/** A session as readable text: `oxbow session show`, and a replay that goes to a pipe. One step is in memory at a time. */

import { paint, type Style } from "../../../base/terminal-style.js";
import { safeLine } from "../../../base/terminal-text.js";
import { textWidth, truncateText } from "../../../base/text-width.js";
import type { TurnRange } from "../../../base/turn-range.js";
import type { Envelope } from "../../../protocol/envelope.js";
import type { EventPayloads } from "../../../protocol/events.js";
import { formatDollars, type Price, reportedPrice } from "./cost-marks.js";
import { NOTHING_RUNS } from "./replay-view.js";
import type { StepKind } from "./step.js";
import { layout } from "./step-layout.js";
import { type EventSource, type ReadStep, readSteps } from "./step-stream.js";
import { timeText } from "./time-text.js";

export interface TranscriptOptions {
  readonly color: boolean;
  /** Cells of the terminal; absent for a pipe, where lines are not broken. */
  readonly width?: number | undefined;
  readonly details: boolean;
  readonly turns?: TurnRange | undefined;
  readonly price?: Price | undefined;
  readonly timeZone?: string | undefined;
  /** Events up to this one have lost their content. */
  readonly expiredTo?: number | undefined;
}

const RESULT_LINES = 5;
const RULE_WIDTH = 72;
const NARROWEST = 10;

/** Steps whose text matters more than their title. */
const INDENTS: Readonly<Partial<Record<StepKind, string>>> = { input: "> ", answer: "" };

/** Steps whose titles begin with a special mark. */
const MARKED: ReadonlySet<StepKind> = new Set(["call", "result"]);

/** Pieces of text, each ending in a newline. */
export async function* showTranscript(
  events: AsyncIterable<Envelope>,
  options: TranscriptOptions,
): AsyncIterable<string> {
  const { turns = { from: 0, to: Number.POSITIVE_INFINITY } } = options;
  const costs = new TurnCosts(options.price);
  let turn = -1;
  const reading = { resultLines: RESULT_LINES, expiredTo: options.expiredTo };
  for await (const { step, content } of readSteps(costs.listen(events), reading)) {
    if (step.turn > turns.to) return;
    if (step.turn < turns.from) continue;
    if (step.turn !== turn) yield turnHeading({ step, content }, options);
    turn = step.turn;
    yield renderStep({ step, content }, options);
    if (step.kind === "end") yield footing(costs.take(step.turn), options);
  }
}

export interface PrintOptions {
  readonly events: EventSource;
  readonly title: string;
  readonly price?: Price;
  readonly expiredTo?: number;
  readonly timeZone?: string;
}

/** Every step with its number, for a replay without a terminal. */
export async function* printReplay(options: PrintOptions): AsyncIterable<string> {
  yield `${safeLine(options.title)} — ${NOTHING_RUNS}\n`;
  let number = 0;
  const { expiredTo, timeZone } = options;
  for await (const { step, content } of readSteps(options.events({}), { resultLines: RESULT_LINES, expiredTo })) {
    number++;
    const place = `step ${number} · turn ${step.turn} · ${timeText(step.at, timeZone)} · ${content.title}`;
    yield `\n${place}\n${body({ step, content }, { color: false, details: false, indent: "  " })}`;
  }
}

function turnHeading({ step, content: { variant } }: ReadStep, options: TranscriptOptions): string {
  const name = step.turn === 0 ? "Before the first turn" : `Turn ${step.turn}`;
  const way = variant === undefined ? "" : ` · prompt variant ${safeLine(variant)}`;
  const line = rule(`── ${name}${way} · ${timeText(step.at, options.timeZone)} `, options.width);
  return `\n${paint(options, "bold", line)}\n`;
}

function footing(cost: TurnCost | undefined, options: TranscriptOptions): string {
  if (cost === undefined) return "";
  const dollars = cost.dollars === 0 ? [] : [formatDollars(cost)];
  const items = [[...cost.models].join(", "), ...dollars, `${(cost.elapsedMs / 1000).toFixed(1)} s`];
  const text = safeLine(`  ${items.join(" · ")}`);
  return `${paint(options, "dim", cut(text, options.width))}\n`;
}

function cut(text: string, width: number | undefined): string {
  return width === undefined ? text : truncateText(text, width);
}

function renderStep(read: ReadStep, options: TranscriptOptions): string {
  const { step, content } = read;
  const indent = INDENTS[step.kind];
  if (indent !== undefined) return `\n${body(read, { ...options, indent })}`;
  const { first, rest } = headline(read, options);
  const title = `${MARKED.has(step.kind) ? "" : "■ "}${content.title}${first === "" ? "" : ` ${first}`}`;
  const gap = step.kind === "call" || step.kind === "end" ? "\n" : "";
  return `${gap}${painted(options, content.style, cut(title, options.width))}\n${rest}`;
}

/** A call is one line: its arguments follow its name. */
function headline(read: ReadStep, options: TranscriptOptions): { first: string; rest: string } {
  const [only] = read.content.sections.filter(({ when }) => when !== "details");
  if (read.step.kind === "call" && !options.details) return { first: safeLine(only?.text ?? ""), rest: "" };
  return { first: "", rest: body(read, { ...options, indent: "  " }) };
}

interface BodyOptions extends Pick<TranscriptOptions, "color" | "width" | "details"> {
  readonly indent: string;
}

function body({ content }: ReadStep, { width, details, color, indent }: BodyOptions): string {
  const columns = width === undefined ? Number.POSITIVE_INFINITY : Math.max(NARROWEST, width - textWidth(indent));
  const lines = layout(content, { columns, details });
  return lines.map(({ text, style }) => `${`${indent}${painted({ color }, style, text)}`.trimEnd()}\n`).join("");
}

function painted(options: { readonly color: boolean }, style: Style | undefined, text: string): string {
  return style === undefined || text === "" ? text : paint(options, style, text);
}

function rule(start: string, width = RULE_WIDTH): string {
  const cells = Math.min(width, RULE_WIDTH);
  return truncateText(start + "─".repeat(Math.max(0, cells - textWidth(start))), cells);
}

interface TurnCost {
  readonly models: Set<string>;
  dollars: number;
  unpriced: number;
  elapsedMs: number;
}

/** The costs of each turn. It gets events before their steps are complete, so it may be a turn ahead. */
class TurnCosts {
  readonly #price: Price;
  readonly #turns = new Map<number, TurnCost>();
  #turn = 0;

  constructor(price: Price = reportedPrice) {
    this.#price = price;
  }

  async *listen(events: AsyncIterable<Envelope>): AsyncIterable<Envelope> {
    for await (const event of events) {
      if (event.kind === "TurnStarted") this.#turn++;
      if (event.kind === "CostIncremented") this.#add(event.payload);
      yield event;
    }
  }

  /** Drops this turn and those before it. */
  take(turn: number): TurnCost | undefined {
    const cost = this.#turns.get(turn);
    for (const known of this.#turns.keys()) if (known <= turn) this.#turns.delete(known);
    return cost;
  }

  #add(payload: EventPayloads["CostIncremented"]): void {
    const cost = this.#turns.get(this.#turn) ?? { models: new Set(), dollars: 0, unpriced: 0, elapsedMs: 0 };
    const dollars = this.#price(payload);
    cost.models.add(`${payload.provider}:${payload.model}`);
    cost.dollars += dollars ?? 0;
    cost.unpriced += dollars === undefined ? 1 : 0;
    cost.elapsedMs += payload.elapsed_ms;
    this.#turns.set(this.#turn, cost);
  }
}
