/**
 * Describes how events become messages, for every reader of a log: the conversation (conversation.ts) and the message files
 * (files/message-fold.ts) listen to it.
 *
 * 1. Events outside a turn make no message, except a summary.
 * 2. The listener gets an answer when it has ended, and again whenever it changes: a call is announced after the answer was complete,
 *    or its cost becomes known. Then it gets the answer for the last time, when nothing more can belong to it.
 * 3. An answer comes before the results of its calls, also when a call ended while the answer was still being written.
 * 4. An answer that has no end in the log was cut off.
 */
import { type AnswerEnd, isCostOfAnswer } from "../protocol/answer-ends.js";
import { contextMessage, type InputContent, inputMessage, REFUSED_INPUT } from "../protocol/content.js";
import type { Envelope, EnvelopeOf } from "../protocol/envelope.js";
import type { EventPayloads } from "../protocol/events.js";
import type { TurnId } from "../protocol/ids.js";
import { addUsage, NO_USAGE, type Usage } from "../protocol/usage.js";
import { AnswerFold, type FoldedAnswer } from "./answer-fold.js";

export interface FoldedInput {
  /** The event that brought it. */
  readonly at: number;
  readonly ts: string;
  readonly content: readonly InputContent[];
  /** Not the user's own words. */
  readonly isAdded?: true;
}

export interface MessageListener {
  /** A second one of the same event replaces the first. */
  readonly onInput: (input: FoldedInput) => void;
  readonly onSummary: (event: EnvelopeOf<"CompactionTriggered">, summary: string) => void;
  readonly onAnswer?: (answer: FoldedAnswer) => void;
  /** Again with the same event if a hook changed the result. */
  readonly onResult?: (result: EnvelopeOf<"ToolResult">) => void;
  /** A hook changed the result of an answer to which nothing more belongs. */
  readonly onLateChange?: (result: EventPayloads["ToolResult"]) => void;
  /** Nothing more belongs to the answer. `end` is the end of its turn, if that is the reason. */
  readonly onLastOf: (answer: FoldedAnswer, end?: EventPayloads["TurnEnded"]) => void;
}

/** A turn that has not ended. */
export interface OpenTurn {
  readonly turn: TurnId;
  /** The event that began it, or the first one that was seen of it. */
  readonly at: number;
  /** The text of its newest answer. */
  readonly text: string;
  readonly iterations: number;
  readonly usage: Usage;
}

export class TurnFold {
  readonly #listener: MessageListener;
  readonly #answers: AnswerFold;
  #turn: OpenTurn | undefined;
  /** The newest answer to which nothing more belongs: a hook may still change its results. */
  #left: FoldedAnswer | undefined;
  /** The input that began the turn, as long as no other message follows. */
  #began: FoldedInput | undefined;

  /** `withinTurn` says that the first event is in the middle of a turn. */
  constructor(listener: MessageListener, { withinTurn = false }: { readonly withinTurn?: boolean } = {}) {
    this.#listener = listener;
    this.#answers = new AnswerFold((answer) => listener.onLastOf(answer));
    // The name of the turn comes with the summary, if the turn continues after that.
    if (withinTurn) this.#turn = newTurn("turn_", 0);
  }

  get turn(): OpenTurn | undefined {
    return this.#turn;
  }

  /** The newest answer, if more may belong to it. */
  get answer(): FoldedAnswer | undefined {
    return this.#answers.answer;
  }

  take(event: Envelope): void {
    const change = this.#answers.take(event, { inTurn: this.#turn !== undefined });
    const { answer } = this.#answers;
    if (answer !== undefined && typeof change === "object") this.#answerEnded(answer, event.ts, change.ended);
    else if (answer?.closed && change === "called") this.#listener.onAnswer?.(answer);
    if (event.kind === "TurnStarted") this.#start(event);
    else if (event.kind === "CompactionTriggered") this.#compact(event);
    else if (this.#turn !== undefined) this.#takeInTurn(event, this.#turn);
  }

  #takeInTurn(event: Envelope, turn: OpenTurn): void {
    switch (event.kind) {
      case "ToolResult":
        this.#result(event);
        return;
      case "ToolResultChanged":
        this.#changeResult(event.payload);
        return;
      case "InputSteered":
        this.#leave(event.ts);
        this.#began = undefined;
        this.#listener.onInput({ at: event.id, ts: event.ts, content: event.payload.input });
        return;
      case "ContextAdded":
        this.#leave(event.ts);
        this.#began = undefined;
        this.#listener.onInput({ at: event.id, ts: event.ts, ...contextMessage(event.payload.text), isAdded: true });
        return;
      case "InputDropped":
        this.#refuse(event.payload.inputs);
        return;
      case "CostIncremented":
        this.#turn = { ...turn, usage: addUsage(turn.usage, event.payload.usage) };
        this.#pay(event.payload);
        return;
      case "TurnEnded":
        this.#leave(event.ts, event.payload);
        this.#turn = undefined;
        return;
    }
  }

  #start({ id, ts, payload }: EnvelopeOf<"TurnStarted">): void {
    this.#leave(ts);
    this.#began = { at: id, ts, content: payload.input };
    this.#turn = newTurn(payload.turn, id);
    this.#listener.onInput({ at: id, ts, content: inputMessage(payload.input, payload.notice).content });
  }

  /** A hook refused the input of the turn before the model saw it. */
  #refuse(inputs: readonly (readonly InputContent[])[]): void {
    const began = this.#began;
    if (began === undefined || this.#answers.answer !== undefined) return;
    const own = JSON.stringify(began.content);
    if (!inputs.some((input) => JSON.stringify(input) === own)) return;
    this.#listener.onInput({ ...began, content: contextMessage(REFUSED_INPUT).content });
  }

  #compact(event: EnvelopeOf<"CompactionTriggered">): void {
    const { summary, turn } = event.payload;
    if (summary === undefined) return;
    this.#leave(event.ts);
    // A reader that starts here has not seen the start of the turn.
    if (turn !== undefined) this.#turn = { ...(this.#turn ?? newTurn(turn, event.id)), turn };
    this.#listener.onSummary(event, summary);
  }

  #result(event: EnvelopeOf<"ToolResult">): void {
    const { answer } = this.#answers;
    if (answer === undefined) return;
    answer.results.set(event.payload.call, event);
    if (answer.closed) this.#listener.onResult?.(event);
  }

  #changeResult({ call, status, content }: EventPayloads["ToolResultChanged"]): void {
    const { answer } = this.#answers;
    const owner = [answer, this.#left].find((each) => each?.results.has(call));
    const result = owner?.results.get(call);
    if (owner === undefined || result === undefined) return;
    const changed = { ...result, payload: { ...result.payload, status, content } };
    owner.results.set(call, changed);
    if (owner.closed) this.#listener.onResult?.(changed);
    if (owner !== answer) this.#listener.onLateChange?.(changed.payload);
  }

  #answerEnded(answer: FoldedAnswer, ts: string, { provider, model }: AnswerEnd): void {
    if (this.#turn !== undefined) {
      this.#turn = { ...this.#turn, iterations: this.#turn.iterations + 1, text: answer.texts.join("") };
    }
    this.#began = undefined;
    answer.cost = { provider, model, usage: NO_USAGE };
    this.#finish(answer, ts);
  }

  #pay(cost: EventPayloads["CostIncremented"]): void {
    const { answer } = this.#answers;
    if (!isCostOfAnswer(cost) || answer?.closed !== true) return;
    answer.cost = { ...answer.cost, usage: cost.usage };
    this.#listener.onAnswer?.(answer);
  }

  #leave(ts: string, end?: EventPayloads["TurnEnded"]): void {
    const answer = this.#answers.leave();
    if (answer === undefined) return;
    if (!answer.closed) {
      answer.cutOff();
      this.#finish(answer, ts);
    }
    this.#left = answer;
    this.#listener.onLastOf(answer, end);
  }

  #finish(answer: FoldedAnswer, ts: string): void {
    answer.timestamp = ts;
    this.#listener.onAnswer?.(answer);
    for (const result of answer.results.values()) this.#listener.onResult?.(result);
  }
}

function newTurn(turn: TurnId, at: number): OpenTurn {
  return { turn, at, text: "", iterations: 0, usage: NO_USAGE };
}
