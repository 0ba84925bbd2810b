/** The input of an executable hook from a turn. */
import { lastResults } from "../../base/changed-results.js";
import type { Stage, Turn } from "../../engine/turn.js";
import { plainText } from "../../protocol/content.js";
import type { JsonObject } from "../../protocol/json.js";
import { callJson, messagesJson, payloadJson, resultJson, usageJson } from "./hook-json.js";

export function commonInput(turn: Turn): JsonObject {
  const { usd } = turn.cost === undefined || turn.cost === "unknown" ? { usd: null } : turn.cost;
  return {
    session: turn.bus.session,
    turn: turn.id,
    provider: turn.model.provider,
    model: turn.model.model,
    iteration: turn.iterations,
    usage: usageJson(turn.usage),
    cost_usd: usd,
  };
}

export function stageInput(stage: Stage, turn: Turn): JsonObject {
  const payload = () => (turn.request === undefined ? null : payloadJson(turn.request));
  const openCalls = () => (turn.dispatch?.open ?? []).map(callJson);
  switch (stage) {
    case "start":
      return { input: turn.input.map((block) => ({ ...block })) };
    case "assemble":
      return { payload: payload(), conversation: messagesJson(turn.conversation) };
    case "send":
      return { payload: payload() };
    case "receive":
      return messageOf(turn);
    case "tool_exec":
      return { tool_calls: openCalls() };
    case "tool_done":
      return { results: resultsOf(turn), tool_calls: openCalls() };
    case "error":
    case "done":
      return { text: turn.text, failure: failureOf(turn) };
  }
}

function messageOf({ conversation }: Turn): JsonObject {
  const last = conversation.at(-1);
  if (last?.role !== "assistant") return {};
  const calls = last.content.flatMap((block) => (block.type === "tool_use" ? [callJson(block)] : []));
  return { message: { text: plainText(last.content), tool_calls: calls } };
}

function resultsOf({ conversation }: Turn): JsonObject[] {
  return lastResults(conversation).map(({ call, tool, content, is_error }) => ({
    ...{ tool_use_id: call, name: tool, content: resultJson(content), is_error },
  }));
}

function failureOf({ failure }: Turn): JsonObject | null {
  return failure === undefined ? null : { reason: failure.reason, message: failure.message };
}
