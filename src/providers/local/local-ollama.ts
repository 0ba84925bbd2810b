/** A model of Ollama: sized to the request and the machine, and its broken calls asked for again. */
import type { Clock } from "../../base/clock.js";
import type { Model } from "../../engine/ports.js";
import type { HttpModelOptions } from "../http-model.js";
import { createOllamaModel } from "../ollama/model.js";
import { withConstrainedCalls } from "./constrained-calls.js";

/** What the user wants of local models. */
export interface LocalOptions {
  /** Use exactly this much context. */
  readonly numCtx?: number;
  readonly keepAlive?: string;
  /** How long it may be silent; as long as it takes when absent. */
  readonly idleMs?: number;
  /** The most time for one answer. */
  readonly answerMs?: number;
  /** What programs could use now; absent when that says nothing about the server. */
  readonly availableMemory?: () => number;
}

export interface LocalModelOptions<State> extends HttpModelOptions<State>, LocalOptions {
  readonly clock: Clock;
}

export function createLocalOllama<State>(options: LocalModelOptions<State>): Model {
  return withConstrainedCalls(createOllamaModel(options));
}
