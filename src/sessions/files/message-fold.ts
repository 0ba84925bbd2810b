/**
 * Which messages a session's events make, one draft for each message file.
 *
 * 1. The same events give the same drafts, whenever and in how many pieces they are read. A draft is known by the event it
 *    begins with.
 * 2. A draft may change until its turn has ended: calls are announced after their answer was complete, and the end of the turn
 *    says how its last answer stopped.
 * 3. An answer comes before the results of its calls, also when a call ended while the answer was still being written.
 * 4. Messages are those of sessions/conversation.ts: what happens outside a turn makes none.
 */
import { type AnswerEnd, AnswerEnds, isCostOfAnswer } from "../../protocol/answer-ends.js";
import type { AssistantBlock, ToolUseBlock } from "../../protocol/content.js";
import { inputMessage, text } from "../../protocol/content.js";
import type { Envelope, EnvelopeOf } from "../../protocol/envelope.js";
import type { AnswerShape, EventPayloads } from "../../protocol/events.js";
import { NO_USAGE } from "../../protocol/usage.js";
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
  #answer: Answer | undefined;
  /** The event the newest draft begins with. */
  #newest = 0;
  readonly #ends = new AnswerEnds();

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

  /** The event that began the turn that has not ended. */
  get openTurn(): number | undefined {
    return this.#turn;
  }

  take(event: Envelope): void {
    this.#last = event.id;
    const end = this.#ends.take(event);
    if (end !== undefined && this.#turn !== undefined) this.#close(event, end);
    if (event.kind === "TurnStarted") this.#start(event);
    else if (event.kind === "CompactionTriggered") this.#compact(event);
    else if (this.#turn !== undefined) this.#takeInTurn(event);
    if (this.#turn === undefined) this.#settled = event.id;
  }

  #takeInTurn(event: Envelope): void {
    switch (event.kind) {
      case "TextDelta":
        this.#open(event).texts.push(event.payload.text);
        return;
      case "ThinkingDelta":
        this.#open(event).thoughts.push(event.payload);
        return;
      case "ToolCallStarted":
        this.#call(event);
        return;
      case "ToolResult":
        this.#result(event);
        return;
      case "AnswerRetracted":
        if (this.#answer?.closed === false) this.#answer = undefined;
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
    const kept = kept_from === undefined ? {} : { keptFrom: kept_from };
    const entry: DraftEntry = { role: "user", timestamp: ts, content: [text(summary)], compaction: true, ...kept };
    this.#put({ at: id, entry });
  }

  /** The answer that a delta belongs to: a closed one is followed by a new one. */
  #open({ id }: Envelope): Answer {
    if (this.#answer === undefined || this.#answer.closed) this.#answer = new Answer(id);
    return this.#answer;
  }

  #call(event: EnvelopeOf<"ToolCallStarted">): void {
    const current = this.#answer;
    const late = current?.closed === true && current.calls.length < current.expected;
    const answer = late ? current : this.#open(event);
    answer.calls.push({ type: "tool_use", ...event.payload });
    if (answer.closed) this.#putAnswer(answer);
  }

  #result(event: EnvelopeOf<"ToolResult">): void {
    if (this.#answer?.closed === false) this.#answer.held.push(event);
    else if (this.#answer !== undefined) this.#putResult(event);
  }

  #close(event: Envelope, end: AnswerEnd): void {
    const answer = this.#open(event);
    const { provider, model } = end;
    answer.shape = end;
    answer.expected = end.calls ?? end.blocks?.filter(({ type }) => type === "tool_use").length ?? 0;
    answer.paid = { model, provider, usage: NO_USAGE };
    if (end.interrupted === true) answer.stop = "error";
    this.#finish(answer, event.ts);
  }

  #pay(cost: EventPayloads["CostIncremented"]): void {
    const answer = this.#answer;
    if (!isCostOfAnswer(cost) || answer?.closed !== true) return;
    answer.paid = { ...answer.paid, usage: cost.usage };
    this.#putAnswer(answer);
  }

  #end({ ts, payload: { outcome, truncated } }: EnvelopeOf<"TurnEnded">): void {
    this.#leave(ts);
    const answer = this.#answer;
    // With results behind it the answer itself was whole; what failed came later.
    if (answer !== undefined && this.#newest === answer.at) {
      if (outcome === "cancelled" || outcome === "failed") answer.stop = "error";
      else if (truncated) answer.stop ??= "length";
      if (answer.stop !== undefined) this.#putAnswer(answer);
    }
    this.#turn = undefined;
    this.#answer = undefined;
  }

  /** An answer without an end was cut off. */
  #leave(ts: string): void {
    if (this.#answer?.closed !== false) return;
    this.#answer.stop = "error";
    this.#finish(this.#answer, ts);
  }

  #finish(answer: Answer, ts: string): void {
    answer.closed = true;
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

class Answer {
  readonly at: number;
  readonly texts: string[] = [];
  readonly thoughts: EventPayloads["ThinkingDelta"][] = [];
  readonly calls: ToolUseBlock[] = [];
  /** Results that came before the answer's end. */
  readonly held: EnvelopeOf<"ToolResult">[] = [];
  /** Calls that it made, announced or not. */
  expected = 0;
  closed = false;
  shape: AnswerShape | undefined;
  paid: Pick<AssistantEntry, "model" | "provider" | "usage"> = {};
  stop: Stop | undefined;
  timestamp = "";

  constructor(at: number) {
    this.at = at;
  }

  entry(): Omit<AssistantEntry, "seq"> {
    const content = this.shape?.blocks === undefined ? this.#plain() : this.#shaped(this.shape.blocks);
    const stop = this.stop ?? (this.calls.length > 0 ? "tool_calls" : "end");
    return { role: "assistant", timestamp: this.timestamp, content, stop, ...this.paid };
  }

  #plain(): AssistantBlock[] {
    return [...thinking(this.thoughts), ...written(this.texts), ...this.calls];
  }

  #shaped(blocks: NonNullable<AnswerShape["blocks"]>): AssistantBlock[] {
    const [texts, thoughts] = [[...this.texts], [...this.thoughts]];
    const calls = new Map(this.calls.map((call) => [call.call, call]));
    return blocks.flatMap((block): AssistantBlock[] => {
      switch (block.type) {
        case "text":
          return written(texts.splice(0, block.deltas));
        case "thinking":
          return thinking(thoughts.splice(0, block.deltas));
        case "tool_use": {
          const call = calls.get(block.call);
          if (call === undefined) return [];
          return [block.malformed === undefined ? call : { ...call, malformed: block.malformed }];
        }
        default:
          return [block];
      }
    });
  }
}

function written(deltas: readonly string[]): AssistantBlock[] {
  const words = deltas.join("");
  return words === "" ? [] : [text(words)];
}

/** Only a thought that was finished names its provider; no provider takes back another. */
function thinking(deltas: readonly EventPayloads["ThinkingDelta"][]): AssistantBlock[] {
  const last = deltas.findLast(({ provider }) => provider !== undefined);
  if (last?.provider === undefined) return [];
  const { provider, opaque } = last;
  const words = deltas.map((delta) => delta.text).join("");
  return [{ type: "thinking", text: words, provider, ...(opaque !== undefined && { opaque }) }];
}
