/**
 * Splits a session's log into steps that the user sees one after the other. A step is an input, a block of an answer's text, a tool
 * call, its result, a permission, the end of a turn, or a notice.
 *
 * 1. Every event belongs to exactly one step, and the events of a step are adjacent: the steps are a partition of the log.
 * 2. Deltas of one block are one step. Thinking belongs to the text or call after it; costs and progress to the event before them; the
 *    timing of a turn to its end.
 * 3. A question and its decision are one step if nothing else happened between them.
 * 4. A step contains events of only one turn. Events before the first turn are in turn 0.
 * 5. A step is returned when it can no longer change, so a list of steps only grows.
 */
import { type AnswerEnd, AnswerEnds } from "../../../protocol/answer-ends.js";
import type { Envelope } from "../../../protocol/envelope.js";
import type { CallId } from "../../../protocol/ids.js";

export type StepKind =
  | "input"
  | "answer"
  | "call"
  | "result"
  | "permission"
  | "end"
  | "gap"
  | "notice"
  /** The log or the turn stops before a result. */
  | "unfinished";

export interface Step {
  readonly kind: StepKind;
  /** Ids of its first and last event. */
  readonly first: number;
  readonly last: number;
  /** Turns are counted from 1. */
  readonly turn: number;
  /** When it happened: milliseconds since the epoch. */
  readonly at: number;
  /** The event of the call that a result answers. */
  readonly call?: number;
}

interface OpenStep {
  /** Undefined until its main event has been seen. */
  kind: StepKind | undefined;
  first: number;
  last: number;
  turn: number;
  at: number;
  call?: number;
  /** A question that waits for its decision. */
  asked?: CallId;
  /** The model call that made this text is over: more text is another block. */
  sealed?: boolean;
}

export class StepGrouper {
  #open: OpenStep | undefined;
  #turn = 0;
  readonly #ends = new AnswerEnds();
  readonly #calls = new Map<CallId, number>();

  /** The step that this event completes: all earlier events that were not returned yet. */
  take(event: Envelope): Step | undefined {
    const end = this.#ends.take(event);
    switch (event.kind) {
      case "ThinkingDelta":
      case "TurnTiming":
        return this.#lead(event);
      case "ToolCallProgress":
      case "AnswerEnded":
      case "CostIncremented":
        return this.#follow(event, end);
      case "TextDelta":
        return this.#open?.kind === "answer" && !this.#open.sealed
          ? this.#extend(this.#open, event)
          : this.#begin("answer", event);
      case "PermissionResolved":
        return this.#open?.asked === event.payload.call
          ? this.#extend(this.#open, event)
          : this.#begin("permission", event);
      case "TurnStarted":
        return this.#startTurn(event);
      default:
        return this.#visible(event);
    }
  }

  /** The last step, when the log has ended. */
  end(): Step | undefined {
    const step = this.#close();
    this.#open = undefined;
    return step;
  }

  #startTurn(event: Envelope): Step | undefined {
    const closed = this.#close();
    this.#turn++;
    this.#calls.clear();
    this.#open = this.#opened("input", event);
    return closed;
  }

  #visible(event: Envelope): Step | undefined {
    const closed = this.#begin(visibleKind(event), event);
    if (this.#open === undefined) return closed;
    if (event.kind === "PermissionRequested") this.#open.asked = event.payload.call;
    if (event.kind === "ToolCallStarted") this.#calls.set(event.payload.call, event.id);
    if (event.kind === "ToolResult") {
      const call = this.#calls.get(event.payload.call);
      if (call !== undefined) this.#open.call = call;
      this.#calls.delete(event.payload.call);
    }
    return closed;
  }

  #lead(event: Envelope): Step | undefined {
    if (this.#open !== undefined && this.#open.kind === undefined) return this.#extend(this.#open, event);
    const closed = this.#close();
    this.#open = this.#opened(undefined, event);
    return closed;
  }

  #follow(event: Envelope, end: AnswerEnd | undefined): undefined {
    this.#open ??= this.#opened(undefined, event);
    if (end !== undefined) this.#open.sealed = true;
    this.#extend(this.#open, event);
  }

  #begin(kind: StepKind, event: Envelope): Step | undefined {
    if (this.#open !== undefined && this.#open.kind === undefined) {
      this.#open.kind = kind;
      this.#open.at = timeOf(event);
      this.#open.sealed = false;
      return this.#extend(this.#open, event);
    }
    const closed = this.#close();
    this.#open = this.#opened(kind, event);
    return closed;
  }

  #extend(open: OpenStep, event: Envelope): undefined {
    open.last = event.id;
  }

  #opened(kind: StepKind | undefined, event: Envelope): OpenStep {
    return { kind, first: event.id, last: event.id, turn: this.#turn, at: timeOf(event) };
  }

  #close(): Step | undefined {
    if (this.#open === undefined) return undefined;
    const { kind = "unfinished", first, last, turn, at, call } = this.#open;
    return { kind, first, last, turn, at, ...(call !== undefined && { call }) };
  }
}

function visibleKind(event: Envelope): StepKind {
  switch (event.kind) {
    case "ToolCallStarted":
      return "call";
    case "ToolResult":
      return "result";
    case "PermissionRequested":
      return "permission";
    case "TurnEnded":
      return "end";
    case "StreamGap":
      return "gap";
    default:
      return "notice";
  }
}

function timeOf(event: Envelope): number {
  return Date.parse(event.ts);
}
