/** A line about a subagent at work, as clients show it: `explore: grep TODO (12s, 3.4k tokens)`. */
import type { EventPayloads } from "../protocol/events.js";
import { roundTokens } from "./budget-text.js";
import { formatDuration } from "./duration.js";

type Shown = Pick<EventPayloads["SubagentProgress"], "type" | "text" | "elapsed_ms" | "tokens">;

export function subagentLine({ type, text, elapsed_ms, tokens }: Shown): string {
  return `${type}: ${text} (${formatDuration(elapsed_ms)}, ${roundTokens(tokens)} tokens)`;
}
