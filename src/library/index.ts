/** The package `oxbow`: the loop as a library, and a small server for it. */

export { VERSION } from "../base/version.js";
export type { HarnessEvent, HarnessState, HarnessStatus } from "../control/transports/simple-events.js";
export {
  createServer,
  type HarnessServer,
  type ListeningServer,
  type ListenOptions,
  type ServedHarness,
  type ServerOptions,
} from "../control/transports/simple-http.js";
export type {
  AssistantBlock,
  AssistantMessage,
  BuiltInReason,
  Failure,
  FailureReason,
  ImageBlock,
  JsonObject,
  JsonValue,
  Message,
  OpaqueBlock,
  ResultContent,
  TextBlock,
  ThinkingBlock,
  ToolResultBlock,
  ToolUseBlock,
  Usage,
  UserBlock,
  UserMessage,
  YieldBlock,
} from "../protocol/index.js";
export type { HarnessConfig, HarnessPrice } from "./config.js";
export { HarnessError, PromptCancelledError } from "./errors.js";
export type { HarnessHandler } from "./handler.js";
export { Harness } from "./harness.js";
export type { CompactOptions, CompactResult, PromptOptions, PromptResult } from "./prompt.js";
export type { HarnessTool, ToolRunContext } from "./tools.js";
