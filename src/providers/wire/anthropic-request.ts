/**
 * Encodes a canonical request for Anthropic Messages.
 *
 * 1. Tool results come first in the message after their calls, and tool calls come last in theirs: Anthropic refuses anything else.
 * 2. Thinking is sent back with its signature or not at all, and never as the end of a message.
 */
import type { ModelRequest } from "../../engine/ports.js";
import type { AssistantBlock, ImageBlock, TextBlock, ToolResultBlock } from "../../protocol/content.js";
import type { JsonObject } from "../../protocol/json.js";
import { withMarkAtEnd, withMarkedMessages } from "./anthropic-cache.js";
import { anthropicFeatures } from "./anthropic-features.js";
import { thinkingFields } from "./anthropic-thinking.js";
import {
  type AssistantTurn,
  arrange,
  type ConversationTurn,
  callName,
  type UserTurn,
  withoutAudio,
} from "./conversation.js";
import { asObject, asText } from "./fields.js";
import { versionedUrl } from "./url.js";
import type { WireRequest, WireTarget } from "./wire.js";

export const ANTHROPIC_HEADERS = { "anthropic-version": "2023-06-01" } as const;

/** Anthropic searches at most this often for one answer. */
const WEB_SEARCH = { type: "web_search_20250305", name: "web_search", max_uses: 3 } as const;

export function encodeAnthropic(request: ModelRequest, target: WireTarget): WireRequest {
  const turns = arrange(request.messages, (block) => isOwn(block, target.family));
  const messages = turns.flatMap((turn, index) => encodeTurn(turn, index === turns.length - 1 ? "last" : "earlier"));
  const { baseUrl } = target;
  const extra = { ...thinkingFields(request), ...target.extra };
  const features = anthropicFeatures(request.model, { baseUrl, extra, tools: request.tools.length });
  const own = request.tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    input_schema: tool.inputSchema,
    ...features.tool,
  }));
  const tools: readonly JsonObject[] = request.webSearch ? [...own, WEB_SEARCH] : own;
  return {
    url: versionedUrl(baseUrl, "/messages"),
    headers: { ...ANTHROPIC_HEADERS, ...features.headers },
    body: {
      model: request.model,
      stream: true,
      ...(request.system.trim() !== "" && { system: withMarkAtEnd([{ type: "text", text: request.system }]) }),
      ...(tools.length > 0 && { tools: withMarkAtEnd(tools) }),
      messages: withMarkedMessages(messages),
      ...extra,
    },
  };
}

function isOwn(block: AssistantBlock, family: string): boolean {
  if (block.type === "opaque") return block.provider === family;
  if (block.type !== "thinking") return true;
  const { signature, redacted } = asObject(block.opaque);
  return block.provider === family && (signature !== undefined || redacted !== undefined);
}

function encodeTurn(turn: ConversationTurn, place: "last" | "earlier"): readonly JsonObject[] {
  const content = turn.role === "user" ? encodeUser(turn) : encodeAssistant(turn, place);
  return content.length === 0 ? [] : [{ role: turn.role, content }];
}

function encodeUser(turn: UserTurn): readonly JsonObject[] {
  return [...turn.results.map(encodeResult), ...withoutAudio(turn.content).map(encodeContent)];
}

function encodeContent(block: TextBlock | ImageBlock): JsonObject {
  if (block.type === "text") return { type: "text", text: block.text };
  return { type: "image", source: { type: "base64", media_type: block.media_type, data: block.data } };
}

function encodeResult(result: ToolResultBlock): JsonObject {
  const content = result.content
    .filter((block) => block.type !== "text" || block.text.trim() !== "")
    .map(encodeContent);
  return {
    type: "tool_result",
    tool_use_id: result.call,
    ...(content.length > 0 && { content }),
    ...(result.is_error && { is_error: true }),
  };
}

function encodeAssistant(turn: AssistantTurn, place: "last" | "earlier"): readonly JsonObject[] {
  const blocks = place === "last" ? turn.blocks : withoutDangling(turn.blocks);
  const calls = blocks.filter((block) => block.type === "tool_use");
  const ordered = [...blocks.filter((block) => block.type !== "tool_use"), ...calls];
  return ordered.slice(0, ordered.findLastIndex((block) => block.type !== "thinking") + 1).flatMap(encodeBlock);
}

function encodeBlock(block: AssistantBlock): readonly JsonObject[] {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: block.text }];
    case "thinking": {
      const { signature, redacted } = asObject(block.opaque);
      if (redacted !== undefined) return [{ type: "redacted_thinking", data: redacted }];
      return [{ type: "thinking", thinking: block.text, signature }];
    }
    case "tool_use":
      return [{ type: "tool_use", id: block.call, name: callName(block.tool), input: block.args }];
    case "opaque":
      return [asObject(block.data)];
    case "yield":
      return [];
  }
}

/** Removes calls of Anthropic's own tools that have no result because of a cancel. Only a call at the very end may still get one. */
function withoutDangling(blocks: readonly AssistantBlock[]): readonly AssistantBlock[] {
  const data = blocks.map((block) => (block.type === "opaque" ? asObject(block.data) : {}));
  const answered = new Set(data.map((own) => asText(own.tool_use_id)));
  return blocks.filter((_, index) => {
    const own = data[index] ?? {};
    return !asText(own.type).endsWith("tool_use") || answered.has(asText(own.id));
  });
}
