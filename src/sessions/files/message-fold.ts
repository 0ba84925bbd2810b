/**
 * Decides which messages a session's events make, one draft for each message file. How events become messages is in sessions/turn-fold.ts.
 *
 * 1. The same events give the same drafts, whenever and in how many pieces they are read. A draft is known by the event it
 *    begins with.
 * 2. A draft may change until its turn has ended: calls are announced after their answer was complete, and the end of the turn
 *    says how its last answer stopped.
 */
import { text } from "../../protocol/content.js";
import type { Envelope, EnvelopeOf } from "../../protocol/envelope.js";
import type { EventPayloads } from "../../protocol/events.js";
import type { FoldedAnswer } from "../answer-fold.js";
import { TurnFold } from "../turn-fold.js";
import type { AssistantEntry, Stop, ToolResultEntry, UserEntry } from "./message-file.js";

export type DraftEntry = Omit<UserEntry, "seq"> | Omit<AssistantEntry, "seq"> | Omit<ToolResultEntry, "seq">;

export interface Draft {
  /** The event it begins with. */
  readonly at: number;
  readonly entry: DraftEntry;
}

/** Events that can change a file; deltas alone do not. */
export const MESSAGE_KINDS: ReadonlySet<string> = new Set([
  "TurnStarted",
  "AnswerEnded",
  "CostIncremented",
  "ToolCallStarted",
  "ToolResult",
  "ToolResultChanged",
  "TurnEnded",
  "CompactionTriggered",
  "InputSteered",
  "InputDropped",
  "ContextAdded",
]);

export class MessageFold {
  /** Drafts that are new or have changed, by where they begin, until the caller has taken them out. */
  readonly changed = new Map<number, Draft>();
  readonly #fold: TurnFold;
  #last: number;
  #completeTo: number;
  /** The event the newest draft begins with. */
  #newest = 0;
  /** The last summary, and the event with which the conversation begins since then. */
  #summary: { readonly at: number; readonly from: number } | undefined;
  #from = 0;

  /** `after` is an event with which nothing was left open. */
  constructor(after: number) {
    this.#last = this.#completeTo = after;
    this.#fold = new TurnFold({
      onInput: ({ at, ts, content }) => this.#put({ at, entry: { role: "user", timestamp: ts, content } }),
      onSummary: (event, summary) => this.#compact(event, summary),
      onAnswer: (answer) => this.#putAnswer(answer),
      onResult: (result) => this.#putResult(result),
      onLastOf: (answer, end) => {
        if (end !== undefined) this.#stopped(answer, end);
      },
    });
  }

  /** The last event that was taken. */
  get last(): number {
    return this.#last;
  }

  /** No draft of the events up to here changes any more. */
  get completeTo(): number {
    return this.#completeTo;
  }

  /** Finds where the conversation up to `settled` begins, when a summary that was taken says so; otherwise 0. */
  get from(): number {
    return this.#from;
  }

  /** The event that began the turn that has not ended. */
  get openTurn(): number | undefined {
    return this.#fold.turn?.at;
  }

  take(event: Envelope): void {
    this.#last = event.id;
    this.#fold.take(event);
    if (event.kind === "TurnStarted") this.#completeTo = event.id - 1;
    if (this.#fold.turn === undefined) this.#completeTo = event.id;
    if (this.#summary !== undefined && this.#summary.at <= this.#completeTo) this.#from = this.#summary.from;
  }

  #compact({ id, ts, payload: { kept_from } }: EnvelopeOf<"CompactionTriggered">, summary: string): void {
    this.#summary = { at: id, from: Math.min(id, kept_from ?? id) };
    const kept = kept_from === undefined ? {} : { keptFrom: kept_from };
    const entry: DraftEntry = { role: "user", timestamp: ts, content: [text(summary)], compaction: true, ...kept };
    this.#put({ at: id, entry });
  }

  /** If results follow the answer, the answer itself was complete, and a later step failed. */
  #stopped(answer: FoldedAnswer, { outcome, truncated }: EventPayloads["TurnEnded"]): void {
    if (this.#newest !== answer.at) return;
    if (outcome === "cancelled" || outcome === "failed") this.#putAnswer(answer, "error");
    else if (truncated && !answer.interrupted) this.#putAnswer(answer, "length");
  }

  #putAnswer(answer: FoldedAnswer, stop?: Stop): void {
    const entry = entryOf(answer, stop);
    if (entry.content.length > 0) this.#put({ at: answer.at, entry });
  }

  #putResult({ id, ts, payload: { call, tool, status, content } }: EnvelopeOf<"ToolResult">): void {
    this.#put({ at: id, entry: { role: "tool_result", timestamp: ts, call, tool, status, content } });
  }

  #put(draft: Draft): void {
    this.changed.set(draft.at, draft);
    this.#newest = Math.max(this.#newest, draft.at);
  }
}

function entryOf(answer: FoldedAnswer, stop?: Stop): Omit<AssistantEntry, "seq"> {
  const { timestamp, content, interrupted, calls, cost } = answer;
  const usual = interrupted ? "error" : calls.length > 0 ? "tool_calls" : "end";
  return { role: "assistant", timestamp, content, stop: stop ?? usual, ...cost };
}
