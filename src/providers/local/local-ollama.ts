/** A model of Ollama: its context fits the request and the machine, and Oxbow requests broken calls again. */
import type { Clock } from "../../base/clock.js";
import type { Model } from "../../engine/ports.js";
import type { HttpModelOptions } from "../http-model.js";
import { createOllamaModel } from "../ollama/model.js";
import { withConstrainedCalls } from "./constrained-calls.js";

/** The user's settings for local models. */
export interface LocalOptions {
  /** Use exactly this much context. */
  readonly numCtx?: number;
  readonly keepAlive?: string;
  /** Says how long it may be silent; default: no limit. */
  readonly idleMs?: number;
  /** The most time for one answer. */
  readonly answerMs?: number;
  /** The memory that programs could use now; absent if that says nothing about the server. */
  readonly availableMemory?: () => number;
}

export interface LocalModelOptions<State> extends HttpModelOptions<State>, LocalOptions {
  readonly clock: Clock;
}

export function createLocalOllama<State>(options: LocalModelOptions<State>): Model {
  return withConstrainedCalls(createOllamaModel(options));
}
