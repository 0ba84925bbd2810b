/** The line that shows what Oxbow does now and for how long. */
import { safeLine } from "../../../base/terminal-text.js";
import { truncateText } from "../../../base/text-width.js";
import { timerLabel } from "../../../base/turn-stats.js";
import { humanWait } from "../../../protocol/errors.js";
import { estimateMs, type State } from "../state.js";
import type { Theme } from "../theme.js";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/** At most four updates a second. */
export const TICK_MS = 250;
const VERSE_MS = 4000;

export interface WorkingOptions {
  readonly width: number;
  readonly theme: Theme;
  readonly now: number;
  /** Lines to read while waiting; none for the plain spinner. */
  readonly verses: readonly string[];
  /** No movement, for screen readers. */
  readonly still?: boolean;
}

/** Undefined if nothing runs. */
export function workingLine(state: State, options: WorkingOptions): string | undefined {
  const { width, theme, now, still } = options;
  const work = workOf(state, options);
  if (work === undefined) return undefined;
  const elapsed = now - work.since;
  const frame = still ? "*" : (FRAMES[Math.floor(elapsed / TICK_MS) % FRAMES.length] ?? "*");
  // Of a retry only the wait counts.
  const timer = still || state.turn?.retryAt !== undefined ? "" : ` ${timerLabel(elapsed, work.estimate)}`;
  const keys = width >= 60 ? ` (${work.keys})` : "";
  const line = truncateText(`${frame} ${work.text}${timer}${keys}`, width);
  return theme.accent(line.slice(0, frame.length)) + theme.dim(line.slice(frame.length));
}

interface Work {
  readonly text: string;
  readonly since: number;
  readonly estimate: number | undefined;
  readonly keys: string;
}

function workOf(state: State, options: WorkingOptions): Work | undefined {
  const { turn, shell, command } = state;
  if (turn !== undefined) {
    // No estimate knows how long a person takes.
    const isUsual = !state.answering && state.questions.length === 0;
    const estimate = isUsual ? estimateMs(state) : undefined;
    return { text: turnText(state, options), since: turn.startedAt, estimate, keys: "esc interrupts" };
  }
  if (shell !== undefined) {
    return {
      text: safeLine(`! ${shell.command}`),
      since: shell.startedAt,
      estimate: undefined,
      keys: "esc interrupts",
    };
  }
  if (command !== undefined) {
    const { line, progress, startedAt: since } = command;
    const text = safeLine(progress === undefined ? line : `${line}  ${progress}`);
    return { text, since, estimate: undefined, keys: "esc interrupts" };
  }
  return undefined;
}

function turnText(state: State, { now, verses, still }: WorkingOptions): string {
  const { turn, questions, tools, thinking } = state;
  if (turn === undefined) return "";
  if (turn.cancelling) return "stopping";
  if (questions.length > 0) return "waiting for your answer";
  if (turn.progress !== undefined) {
    const { progress, retryAt } = turn;
    const left = retryAt === undefined || still ? undefined : humanWait(retryAt - now);
    return safeLine(left === undefined ? progress : progress.replace(/ in \d+ ?(?:s|min|h)…/, ` in ${left}…`));
  }
  if (tools.length > 0) return tools.length === 1 ? "running a tool" : `running ${tools.length} tools`;
  if (state.answering) return "answering";
  const verse = verses[Math.floor((now - turn.startedAt) / VERSE_MS) % Math.max(1, verses.length)];
  return verse ?? (thinking === undefined ? "waiting for the model" : "thinking");
}
