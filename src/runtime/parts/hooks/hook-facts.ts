/** Facts about a turn in the words that existing hooks expect. */
import { lastResults } from "../../../base/changed-results.js";
import { toolViews } from "../../../extensions/hooks/tool-views.js";
import { type Message, resultText } from "../../../protocol/content.js";
import type { FailureReason } from "../../../protocol/errors.js";
import type { JsonObject } from "../../../protocol/json.js";

/** The calls of the newest answer with what the model reads about them. */
export function batchOf(conversation: readonly Message[], root: string): JsonObject[] {
  const calls = conversation.flatMap(({ role, content }) => (role === "assistant" ? content : []));
  return lastResults(conversation).map(({ call, tool, content }) => {
    const made = calls.findLast((block) => block.type === "tool_use" && block.call === call);
    const args = made?.type === "tool_use" ? made.args : {};
    const [view] = toolViews({ tool, args }, root).parts;
    return {
      tool_name: view?.names[0] ?? tool,
      tool_input: view?.input ?? args,
      tool_use_id: call,
      tool_response: resultText(content),
    };
  });
}

const ERRORS: Partial<Record<FailureReason, string>> = {
  RateLimited: "rate_limit",
  Overloaded: "overloaded",
  AuthFailed: "authentication_failed",
  QuotaExceeded: "billing_error",
  BadRequest: "invalid_request",
  ModelNotFound: "model_not_found",
  ProviderFailed: "server_error",
  AnswerTooLong: "max_output_tokens",
  AnswersCut: "max_output_tokens",
};

/** The type of an error for a matcher. */
export function errorName(reason: FailureReason): string {
  return ERRORS[reason] ?? "unknown";
}
