/**
 * The arguments of a tool call as a model wrote them.
 *
 * 1. Only one complete JSON object of at most 100 levels is a set of arguments; empty text means `{}`.
 * 2. Any other text is kept unchanged and never repaired: a guess could run a command that the model did not ask for.
 */
import { MOST_ARGUMENT_LEVELS, nestingOf } from "../../base/json-nesting.js";
import type { ModelToolCall } from "../../engine/ports.js";
import { isJsonObject, type JsonObject } from "../../protocol/json.js";
import { parseJson } from "./fields.js";

/** Stored beside the calls, because parsed arguments lose their spelling. */
const WRITTEN = new WeakMap<ModelToolCall, string>();

export function toolCall(tool: string, written: string): ModelToolCall {
  const args = parseArguments(written);
  const call: ModelToolCall =
    args === undefined ? { type: "tool_call", tool, args: {}, malformed: written } : { type: "tool_call", tool, args };
  WRITTEN.set(call, written);
  return call;
}

/** The text the arguments arrived as; for checks that compare spelling. */
export function argumentsAsWritten(call: ModelToolCall): string {
  return WRITTEN.get(call) ?? JSON.stringify(call.args);
}

/** Tells whether this is already a complete set of arguments. */
export function isCompleteObject(written: string): boolean {
  return written.trimEnd().endsWith("}") && isJsonObject(parseJson(written));
}

function parseArguments(written: string): JsonObject | undefined {
  if (written.trim() === "") return {};
  const value = parseJson(written);
  return isJsonObject(value) && nestingOf(written) <= MOST_ARGUMENT_LEVELS ? value : undefined;
}
