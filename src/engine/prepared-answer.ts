/** An answer that no model gave: calls that Oxbow makes for a person. It costs nothing. */
import { NO_COST, NO_USAGE } from "../protocol/usage.js";
import type { ModelEvent, PreparedCall } from "./ports.js";

export async function* preparedAnswer(calls: readonly PreparedCall[]): AsyncGenerator<readonly ModelEvent[]> {
  yield [
    ...calls.map((call): ModelEvent => ({ type: "block", block: { type: "tool_call", ...call } })),
    { type: "usage", usage: NO_USAGE, cost: NO_COST },
    { type: "stop", reason: "tool_calls" },
  ];
}
