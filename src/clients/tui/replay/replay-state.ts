/**
 * The replay as data.
 *
 * 1. `at` is a known step, or 0 if there is none. `content` belongs to that step, or is undefined until it is read.
 * 2. The list of steps only grows. A goal beyond the known steps stays until it is reached, the log has ended, or a key goes
 *    elsewhere.
 * 3. `scroll` never leaves the step's lines.
 */
import type { CostMark } from "./cost-marks.js";
import { bodyLines, bodyRows } from "./replay-body.js";
import type { Step } from "./step.js";
import type { StepContent } from "./step-content.js";

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export interface ReplayFacts {
  readonly title: string;
  /** Used until the log shows which model answered. */
  readonly model?: string | undefined;
  /** The id of the session's last event. */
  readonly lastEvent: number;
  readonly color: boolean;
  /** An IANA name; default: the machine's own. */
  readonly timeZone?: string | undefined;
}

export interface Search {
  readonly text: string;
  /** The step where it began, which is searched last. */
  readonly from: number;
}

export interface ReplayState {
  readonly facts: ReplayFacts;
  readonly size: Size;
  readonly steps: readonly Step[];
  /** The first step of each turn. */
  readonly turnStarts: readonly number[];
  readonly costs: readonly CostMark[];
  /** How far the log has been read. */
  readonly indexed: { readonly upTo: number; readonly done: boolean; readonly problem?: string | undefined };
  readonly at: number;
  readonly content: StepContent | undefined;
  readonly scroll: number;
  readonly details: boolean;
  readonly help: boolean;
  readonly playing: boolean;
  /** The line that the user is typing. */
  readonly prompt: { readonly kind: "turn" | "search"; readonly text: string } | undefined;
  readonly goal: { readonly turn: number } | "end" | undefined;
  /** A running search. */
  readonly search: Search | undefined;
  /** The last search text: marked everywhere. */
  readonly needle: string;
  /** The step was just found: scroll its content to the needle. */
  readonly reveal: boolean;
  readonly message: string;
  readonly over: boolean;
}

export type ReplayAction =
  | { readonly type: "key"; readonly key: string }
  | { readonly type: "resize"; readonly size: Size }
  | {
      readonly type: "indexed";
      readonly steps: readonly Step[];
      readonly costs: readonly CostMark[];
      readonly upTo: number;
    }
  | { readonly type: "index-ended"; readonly problem?: string }
  | { readonly type: "content"; readonly step: number; readonly content: StepContent }
  | { readonly type: "found"; readonly search: Search; readonly step: number }
  | { readonly type: "not-found"; readonly search: Search; readonly problem?: string }
  /** It is time for the next step. */
  | { readonly type: "tick" };

export function initialReplay(facts: ReplayFacts, size: Size): ReplayState {
  return {
    facts,
    size: sane(size),
    steps: [],
    turnStarts: [],
    costs: [],
    indexed: { upTo: 0, done: false },
    at: 0,
    content: undefined,
    scroll: 0,
    details: false,
    help: false,
    playing: false,
    prompt: undefined,
    goal: undefined,
    search: undefined,
    needle: "",
    reveal: false,
    message: "",
    over: false,
  };
}

/** The same state at another step, or the nearest known one. */
export function wentTo(state: ReplayState, step: number): ReplayState {
  const at = Math.max(0, Math.min(step, state.steps.length - 1));
  const same = at === state.at;
  return { ...state, at, content: same ? state.content : undefined, scroll: 0, reveal: false };
}

export function scrolledTo(state: ReplayState, line: number): ReplayState {
  const most = Math.max(0, bodyLines(state, state.size).length - bodyRows(state.size));
  return { ...state, scroll: Math.max(0, Math.min(line, most)) };
}

export function noSuchTurn({ turnStarts }: ReplayState, turn: number): string {
  return turnStarts.length === 0
    ? "This session has no turns."
    : `There is no turn ${turn}: the session has ${turnStarts.length}.`;
}

/** Replaces a missing or impossible size by a default. */
export function sane({ columns, rows }: Size): Size {
  return { columns: columns >= 1 ? Math.floor(columns) : 80, rows: rows >= 1 ? Math.floor(rows) : 24 };
}
