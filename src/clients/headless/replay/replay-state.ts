/**
 * The replay as data.
 *
 * 1. `at` is a step that is known, or 0 when none is. `content` is that step's, or undefined until it is read.
 * 2. Steps only grow. A goal that lies beyond what is known is kept until it is reached, or the log has ended, or a key
 *    goes elsewhere.
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
  /** Until the log tells which model answered. */
  readonly model?: string | undefined;
  /** The id of the session's last event. */
  readonly lastEvent: number;
  readonly color: boolean;
  /** An IANA name; the machine's own when absent. */
  readonly timeZone?: string | undefined;
}

export interface Search {
  readonly text: string;
  /** The step where it was begun: the last one that is looked at. */
  readonly from: number;
}

export interface ReplayState {
  readonly facts: ReplayFacts;
  readonly size: Size;
  readonly steps: readonly Step[];
  /** The first step of each turn. */
  readonly turnStarts: readonly number[];
  readonly costs: readonly CostMark[];
  /** How far the log was read. */
  readonly indexed: { readonly upTo: number; readonly done: boolean; readonly problem?: string | undefined };
  readonly at: number;
  readonly content: StepContent | undefined;
  readonly scroll: number;
  readonly details: boolean;
  readonly help: boolean;
  readonly playing: boolean;
  /** A line that is being typed. */
  readonly prompt: { readonly kind: "turn" | "search"; readonly text: string } | undefined;
  readonly goal: { readonly turn: number } | "end" | undefined;
  /** A search that is under way. */
  readonly search: Search | undefined;
  /** What was looked for last: marked wherever it is seen. */
  readonly needle: string;
  /** The step just found: its content is to be scrolled to the needle. */
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

/** The same state at another step, as near to it as there is one. */
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

/** A terminal that does not tell its size, or tells nonsense, is an ordinary one. */
export function sane({ columns, rows }: Size): Size {
  return { columns: columns >= 1 ? Math.floor(columns) : 80, rows: rows >= 1 ? Math.floor(rows) : 24 };
}
