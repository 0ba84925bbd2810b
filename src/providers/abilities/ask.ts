/** One question to a model and its whole answer. */
import type { Model, ModelRequest, ModelToolCall, StopReason } from "../../engine/ports.js";
import { type Message, text } from "../../protocol/content.js";
import type { Failure } from "../../protocol/errors.js";

export interface Reply {
  readonly text: string;
  readonly calls: readonly ModelToolCall[];
  readonly stop: StopReason | undefined;
}

/** The model cannot be reached, which says nothing about its abilities. */
export class Unreachable extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** This request failed; another may not. */
export class Refused extends Error {}

export type Ask = (question: Partial<ModelRequest>) => Promise<Reply>;

const SYSTEM = "You are a careful assistant. Do exactly what is asked and nothing else.";
/** Thinking counts too. */
const ANSWER_TOKENS = 2048;
/** Reasons that hold for every request. */
const LASTING = ["NoModel", "NetworkFailed", "AuthFailed", "QuotaExceeded", "ModelNotFound"];

export function createAsk(model: Model, signal: AbortSignal): Ask {
  return async (question) => {
    const request: ModelRequest = {
      model: model.model,
      system: SYSTEM,
      messages: [],
      tools: [],
      maxOutputTokens: ANSWER_TOKENS,
      ...question,
    };
    let answer = "";
    let stop: StopReason | undefined;
    const calls: ModelToolCall[] = [];
    for await (const batch of model.stream(request, { model, signal })) {
      for (const event of batch) {
        if (event.type === "text") answer += event.text;
        else if (event.type === "stop") stop = event.reason;
        else if (event.type === "block" && event.block.type === "tool_call") calls.push(event.block);
        else if (event.type === "failure") throw problem(event.failure);
      }
    }
    signal.throwIfAborted();
    return { text: answer, calls, stop };
  };
}

function problem(failure: Failure): Error {
  return LASTING.includes(failure.reason) ? new Unreachable(failure) : new Refused(failure.message);
}

export function user(words: string): Message {
  return { role: "user", content: [text(words)] };
}
