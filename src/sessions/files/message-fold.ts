/**
 * Which messages a session's events make, one draft for each message file.
 *
 * 1. The same events give the same drafts, whenever and in how many pieces they are read. A draft is known by the event it
 *    begins with.
 * 2. A draft may change until its turn has ended: calls are announced after their answer was complete, and the end of the turn
 *    says how its last answer stopped.
 * 3. An answer comes before the results of its calls, also when a call ended while the answer was still being written.
 * 4. Answers come from sessions/answer-fold.ts, as in conversation.ts: what happens outside a turn makes none.
 */
import { type AnswerEnd, isCostOfAnswer } from "../../protocol/answer-ends.js";
import { inputMessage, text } from "../../protocol/content.js";
import type { Envelope, EnvelopeOf } from "../../protocol/envelope.js";
import type { EventPayloads } from "../../protocol/events.js";
import { NO_USAGE } from "../../protocol/usage.js";
import { AnswerFold, FoldedAnswer } from "../answer-fold.js";
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
  "TurnEnded",
  "CompactionTriggered",
  "InputSteered",
]);

export class MessageFold {
  /** Drafts that are new or have changed, by where they begin, until the caller has taken them out. */
  readonly changed = new Map<number, Draft>();
  #last: number;
  #settled: number;
  #turn: number | undefined;
  readonly #answers = new AnswerFold((at) => new Answer(at));
  /** The event the newest draft begins with. */
  #newest = 0;
  /** The last summary, and the event with which the conversation begins since then. */
  #summary: { readonly at: number; readonly from: number } | undefined;
  #from = 0;

  /** `after` is an event with which nothing was left open. */
  constructor(after: number) {
    this.#last = this.#settled = after;
  }

  /** The last event that was taken. */
  get last(): number {
    return this.#last;
  }

  /** No draft of the events up to here changes any more. */
  get settled(): number {
    return this.#settled;
  }

  /** Where the conversation up to `settled` begins, when a summary that was taken says so; otherwise 0. */
  get from(): number {
    return this.#from;
  }

  /** The event that began the turn that has not ended. */
  get openTurn(): number | undefined {
    return this.#turn;
  }

  take(event: Envelope): void {
    this.#last = event.id;
    const change = this.#answers.take(event, { inTurn: this.#turn !== undefined });
    const { answer } = this.#answers;
    if (answer !== undefined && typeof change === "object") this.#ended(answer, event, change.ended);
    if (answer?.closed && change === "called") this.#putAnswer(answer);
    if (event.kind === "TurnStarted") this.#start(event);
    else if (event.kind === "CompactionTriggered") this.#compact(event);
    else if (this.#turn !== undefined) this.#takeInTurn(event);
    if (this.#turn === undefined) this.#settled = event.id;
    if (this.#summary !== undefined && this.#summary.at <= this.#settled) this.#from = this.#summary.from;
  }

  #takeInTurn(event: Envelope): void {
    switch (event.kind) {
      case "ToolResult":
        this.#result(event);
        return;
      case "InputSteered":
        this.#put({ at: event.id, entry: { role: "user", timestamp: event.ts, content: event.payload.input } });
        return;
      case "CostIncremented":
        this.#pay(event.payload);
        return;
      case "TurnEnded":
        this.#end(event);
        return;
    }
  }

  #start({ id, ts, payload }: EnvelopeOf<"TurnStarted">): void {
    this.#leave(ts);
    this.#settled = id - 1;
    this.#turn = id;
    const { content } = inputMessage(payload.input, payload.notice);
    this.#put({ at: id, entry: { role: "user", timestamp: ts, content } });
  }

  #compact({ id, ts, payload: { summary, kept_from } }: EnvelopeOf<"CompactionTriggered">): void {
    if (summary === undefined) return;
    this.#leave(ts);
    this.#summary = { at: id, from: Math.min(id, kept_from ?? id) };
    const kept = kept_from === undefined ? {} : { keptFrom: kept_from };
    const entry: DraftEntry = { role: "user", timestamp: ts, content: [text(summary)], compaction: true, ...kept };
    this.#put({ at: id, entry });
  }

  #result(event: EnvelopeOf<"ToolResult">): void {
    const { answer } = this.#answers;
    if (answer?.closed === false) answer.held.push(event);
    else if (answer !== undefined) this.#putResult(event);
  }

  #ended(answer: Answer, { ts }: Envelope, { provider, model, interrupted }: AnswerEnd): void {
    answer.paid = { model, provider, usage: NO_USAGE };
    if (interrupted === true) answer.stop = "error";
    this.#finish(answer, ts);
  }

  #pay(cost: EventPayloads["CostIncremented"]): void {
    const { answer } = this.#answers;
    if (!isCostOfAnswer(cost) || answer?.closed !== true) return;
    answer.paid = { ...answer.paid, usage: cost.usage };
    this.#putAnswer(answer);
  }

  #end({ ts, payload: { outcome, truncated } }: EnvelopeOf<"TurnEnded">): void {
    this.#leave(ts);
    const answer = this.#answers.leave();
    // With results behind it the answer itself was whole; what failed came later.
    if (answer !== undefined && this.#newest === answer.at) {
      if (outcome === "cancelled" || outcome === "failed") answer.stop = "error";
      else if (truncated) answer.stop ??= "length";
      if (answer.stop !== undefined) this.#putAnswer(answer);
    }
    this.#turn = undefined;
  }

  /** An answer without an end was cut off. */
  #leave(ts: string): void {
    const { answer } = this.#answers;
    if (answer?.closed !== false) return;
    answer.stop = "error";
    answer.end({});
    this.#finish(answer, ts);
  }

  #finish(answer: Answer, ts: string): void {
    answer.timestamp = ts;
    this.#putAnswer(answer);
    for (const result of answer.held.splice(0)) this.#putResult(result);
  }

  #putAnswer(answer: Answer): void {
    const entry = answer.entry();
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

class Answer extends FoldedAnswer {
  /** Results that came before the answer's end. */
  readonly held: EnvelopeOf<"ToolResult">[] = [];
  paid: Pick<AssistantEntry, "model" | "provider" | "usage"> = {};
  stop: Stop | undefined;
  timestamp = "";

  entry(): Omit<AssistantEntry, "seq"> {
    const stop = this.stop ?? (this.calls.length > 0 ? "tool_calls" : "end");
    return { role: "assistant", timestamp: this.timestamp, content: this.content, stop, ...this.paid };
  }
}
