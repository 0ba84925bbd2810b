/** `oxbow/testkit`: helpers for tests of plugins, hooks and harnesses. */

export { type Clock, ManualClock } from "../base/clock.js";
export type { Answered, Ending, MockFailure, RecordedRequest } from "./mock-model/request-log.js";
export { type ReplyBuilder, reply, type ScriptOptions, script } from "./mock-model/script/builder.js";
export { parseScript, ScriptError } from "./mock-model/script/parse.js";
export type {
  Action,
  Condition,
  ErrorAction,
  ErrorKind,
  ModelSpec,
  Reply,
  Script,
  Split,
  Test,
} from "./mock-model/script/script.js";
export { SCRIPT_ENDED } from "./mock-model/script/script.js";
export { type MockModel, type MockModelOptions, startMockModel } from "./mock-model/server.js";
export type { WireName } from "./mock-model/wires/wire.js";
