/** The result for the model that started a subagent, and the lines that clients show meanwhile. */
import type { ToolOutcome } from "../../engine/ports.js";
import { ownText, text } from "../../protocol/content.js";
import type { EventPayloads, ToolStatus } from "../../protocol/events.js";
import type { SessionId } from "../../protocol/ids.js";
import type { JsonObject } from "../../protocol/json.js";

export interface EndedSubagent {
  readonly type: string;
  readonly session: SessionId;
  readonly ended: EventPayloads["TurnEnded"];
  readonly elapsedMs: number;
  readonly calls: number;
  /** Notes for the model: where the changes are, which model was used instead. */
  readonly notes: readonly string[];
}

export function resultOf(subagent: EndedSubagent): ToolOutcome {
  const { type, session, ended, elapsedMs, calls, notes } = subagent;
  const { outcome, usage, cost, failure } = ended;
  const answer = ended.text.trim();
  const lines = [...outcomeLines(subagent), ...notes];
  const details = {
    subagent: {
      ...{ type, session, outcome, calls, elapsed_ms: elapsedMs },
      tokens: tokensOf(usage),
      ...(cost !== undefined && { usd: cost.usd }),
    },
    ...(failure !== undefined && { failure: { reason: failure.reason, message: failure.message } }),
  } satisfies JsonObject;
  return {
    status: statusOf(ended),
    content: [...(answer === "" ? [] : [text(answer)]), ...(lines.length === 0 ? [] : [ownText(lines.join("\n"))])],
    details,
  };
}

function statusOf({ outcome, failure }: EventPayloads["TurnEnded"]): ToolStatus {
  if (outcome === "answered" || outcome === "stopped") return "ok";
  if (outcome === "cancelled") return "cancelled";
  if (outcome === "denied") return "denied";
  return failure?.reason === "Timeout" ? "timeout" : "error";
}

function outcomeLines({ type, session, ended, calls }: EndedSubagent): readonly string[] {
  const { outcome, failure, truncated } = ended;
  const isEmpty = ended.text.trim() === "";
  const before = isEmpty ? "It gave no report." : "The text above is all that it reported.";
  const next = "Start another one with a smaller task, or do the rest yourself.";
  if (outcome === "answered" && truncated)
    return [`The report of the subagent ${type} is cut off at the output limit. Ask another one for what is missing.`];
  if (outcome === "answered")
    return isEmpty ? [`The subagent ${type} ended after ${calls} calls without a report. ${next}`] : [];
  // How to allow a call is for the user.
  const why = failure === undefined ? "" : ` ${failure.message.replace(/ To continue, [\s\S]*$/, "")}`;
  if (outcome === "cancelled") return [`The subagent ${type} was cancelled. ${before}`];
  if (outcome === "limit") return [`The subagent ${type} was stopped by a limit.${why} ${before} ${next}`];
  if (outcome === "denied")
    return [
      `The subagent ${type} needed a permission that it did not get.${why} ${before} What it changed before stays. ` +
        "Continue without it, or say what you would have done.",
    ];
  if (outcome === "stopped") return [`The subagent ${type} was stopped.${why}`];
  return [`The subagent ${type} failed.${why} ${before} ${next} Its log is the session ${session}.`];
}

export function tokensOf({
  input,
  output,
  cache_read,
  cache_write,
}: {
  readonly input: number;
  readonly output: number;
  readonly cache_read: number;
  readonly cache_write: number;
}): number {
  return input + output + cache_read + cache_write;
}

const LONGEST_WORDS = 60;

/** `grep TODO`: the tool and the most telling argument. */
export function callWords(tool: string, args: JsonObject): string {
  const [first] = Object.values(args).filter((value): value is string => typeof value === "string" && value !== "");
  const words = `${tool} ${first ?? ""}`.replace(/\s+/g, " ").trim();
  return words.length > LONGEST_WORDS ? `${words.slice(0, LONGEST_WORDS - 1)}…` : words;
}
