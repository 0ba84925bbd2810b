/**
 * Describes how the events of a turn become answers; a part of turn-fold.ts.
 *
 * 1. An answer holds its deltas and calls until an AnswerEnded gives their order; later events belong to the next answer.
 * 2. Calls may be announced after the end of their answer, as many as it made.
 * 3. An answer that is retracted before its end does not count.
 */
import { type AnswerEnd, AnswerEnds } from "../protocol/answer-ends.js";
import { type AssistantBlock, type ToolUseBlock, text } from "../protocol/content.js";
import type { Envelope, EnvelopeOf } from "../protocol/envelope.js";
import type { AnswerShape, EventPayloads } from "../protocol/events.js";
import type { CallId } from "../protocol/ids.js";
import type { Usage } from "../protocol/usage.js";

/** Describes what an event did to the current answer. */
export type AnswerChange = { readonly ended: AnswerEnd } | "called" | undefined;

export class AnswerFold {
  readonly #onFollowed: (answer: FoldedAnswer) => void;
  readonly #ends = new AnswerEnds();
  #answer: FoldedAnswer | undefined;

  /** `onFollowed` gets an answer that has ended, when another one begins. */
  constructor(onFollowed: (answer: FoldedAnswer) => void) {
    this.#onFollowed = onFollowed;
  }

  /** The newest answer, ended or not. */
  get answer(): FoldedAnswer | undefined {
    return this.#answer;
  }

  /** Takes the newest answer out: nothing more belongs to it. */
  leave(): FoldedAnswer | undefined {
    const answer = this.#answer;
    this.#answer = undefined;
    return answer;
  }

  /** Takes every event, also those outside of turns, which make no answer. */
  take(event: Envelope, { inTurn }: { readonly inTurn: boolean }): AnswerChange {
    const end = this.#ends.take(event);
    if (!inTurn) return undefined;
    if (end !== undefined) {
      this.#open(event.id).end(end);
      return { ended: end };
    }
    switch (event.kind) {
      case "TextDelta":
        this.#open(event.id).texts.push(event.payload.text);
        return undefined;
      case "ThinkingDelta":
        this.#open(event.id).thoughts.push(event.payload);
        return undefined;
      case "ToolCallStarted":
        this.#forCall(event.id).calls.push({ type: "tool_use", ...event.payload });
        return "called";
      case "AnswerRetracted":
        if (this.#answer?.closed === false) this.#answer = undefined;
        return undefined;
      default:
        return undefined;
    }
  }

  #open(at: number): FoldedAnswer {
    if (this.#answer?.closed) {
      const before = this.#answer;
      this.#answer = undefined;
      this.#onFollowed(before);
    }
    this.#answer ??= new FoldedAnswer(at);
    return this.#answer;
  }

  #forCall(at: number): FoldedAnswer {
    const answer = this.#answer;
    return answer?.closed && answer.calls.length < answer.expected ? answer : this.#open(at);
  }
}

export class FoldedAnswer {
  /** The event it begins with. */
  readonly at: number;
  readonly texts: string[] = [];
  readonly thoughts: EventPayloads["ThinkingDelta"][] = [];
  readonly calls: ToolUseBlock[] = [];
  /** The results of its calls, in the order in which they came. */
  readonly results = new Map<CallId, EnvelopeOf<"ToolResult">>();
  /** The time of its end. */
  timestamp = "";
  cost: { readonly provider?: string; readonly model?: string; readonly usage?: Usage } = {};
  /** Calls that it made, announced or not. */
  expected = 0;
  closed = false;
  #shape: AnswerShape = {};

  constructor(at: number) {
    this.at = at;
  }

  end(shape: AnswerShape): void {
    this.closed = true;
    this.#shape = shape;
    this.expected = shape.calls ?? shape.blocks?.filter(({ type }) => type === "tool_use").length ?? 0;
  }

  /** The log has no end of it. */
  cutOff(): void {
    this.end({ interrupted: true });
  }

  get interrupted(): boolean {
    return !this.closed || this.#shape.interrupted === true;
  }

  get content(): AssistantBlock[] {
    const { blocks } = this.#shape;
    if (blocks !== undefined) return this.#shaped(blocks);
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
          // A call that was never announced did not run: the model does not need it.
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

/** Only finished thinking names its provider; no provider accepts other thinking. */
function thinking(deltas: readonly EventPayloads["ThinkingDelta"][]): AssistantBlock[] {
  const last = deltas.findLast(({ provider }) => provider !== undefined);
  if (last?.provider === undefined) return [];
  const { provider, opaque } = last;
  const words = deltas.map((delta) => delta.text).join("");
  return [{ type: "thinking", text: words, provider, ...(opaque !== undefined && { opaque }) }];
}
