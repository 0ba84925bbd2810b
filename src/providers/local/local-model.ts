/** A model on a machine of one's own (feature M20): what a hosted service does for its users has to be done here. */
import type { Clock } from "../../base/clock.js";
import type { Model } from "../../engine/ports.js";
import { createHttpModel, type HttpModelOptions } from "../http-model.js";
import { createOllamaModel } from "../ollama/model.js";
import { withConstrainedCalls } from "./constrained-calls.js";
import { withCutWarning } from "./cut-warning.js";
import { withTextCalls } from "./text-call-recovery.js";

/** What the user wants of local models. */
export interface LocalWishes {
  /** Use exactly this much context. */
  readonly numCtx?: number;
  readonly keepAlive?: string;
  /** What programs could use now; absent when that says nothing about the server. */
  readonly availableMemory?: () => number;
}

export interface LocalModelOptions<State> extends HttpModelOptions<State>, LocalWishes {
  readonly clock: Clock;
}

export function createLocalModel<State>(options: LocalModelOptions<State>): Model {
  if (options.wire.name === "ollama") return withConstrainedCalls(createOllamaModel(options));
  return withConstrainedCalls(withTextCalls(withCutWarning(createHttpModel(options))));
}
