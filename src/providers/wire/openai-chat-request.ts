/**
 * Encodes a canonical request for Chat Completions.
 *
 * 1. Tool results directly follow the message of their calls, one message each. They can only hold text: their images follow in a
 *    user message.
 * 2. Thinking is sent back in the field it came in, and only until the newest input is answered: some servers need it until then,
 *    and others refuse it later.
 */
import type { ModelRequest } from "../../engine/ports.js";
import type { AssistantBlock, ImageBlock, InputContent, TextBlock, ToolResultBlock } from "../../protocol/content.js";
import type { JsonObject, JsonValue } from "../../protocol/json.js";
import { CHAT_FORMATS } from "../audio.js";
import { type AssistantTurn, arrange, callName, splitContent, type UserTurn, withoutAudio } from "./conversation.js";
import { asObject } from "./fields.js";
import { WITHOUT_REASONING } from "./openai-models.js";
import { compatibleUrl } from "./url.js";
import type { WireRequest, WireTarget } from "./wire.js";

/** The fields that servers use for thinking; the first wins if a server uses both. */
export const THINKING_FIELDS = ["reasoning_content", "reasoning"] as const;
export type ThinkingField = (typeof THINKING_FIELDS)[number];

export function encodeChat(request: ModelRequest, target: WireTarget): WireRequest {
  const messages: JsonObject[] = [];
  if (request.system.trim() !== "") messages.push({ role: "system", content: request.system });
  const { dialect = {} } = target;
  const idOf = dialect.callIds === "nine" ? nineCharacters : (call: string) => call;
  for (const turn of arrange(request.messages, (block) => isSendable(block, target))) {
    messages.push(...(turn.role === "user" ? encodeUser(turn, idOf) : encodeAssistant(turn, idOf)));
  }
  const tools = request.tools.map((tool) => ({
    type: "function",
    function: { name: tool.name, description: tool.description, parameters: tool.inputSchema },
  }));
  return {
    url: compatibleUrl(target.baseUrl, "/chat/completions", dialect),
    headers: {},
    body: {
      model: request.model,
      messages,
      stream: true,
      stream_options: { include_usage: true },
      ...(tools.length > 0 && { tools }),
      ...limit(request.maxOutputTokens, target),
      ...(request.answerSchema !== undefined && { response_format: responseFormat(request.answerSchema) }),
      ...reasoning(request, target.family),
      ...cacheHints(request, target.family),
      // Without this field OpenRouter does not report the cost.
      ...(target.family === "openrouter" && { usage: { include: true } }),
      ...target.extra,
    },
  };
}

function responseFormat(schema: JsonObject): JsonObject {
  return { type: "json_schema", json_schema: { name: "answer", schema } };
}

/** OpenAI refuses it for a model that does not reason; other servers decide themselves. */
function reasoning({ effort, model }: ModelRequest, family: string): JsonObject {
  if (effort === undefined || (family === "openai" && WITHOUT_REASONING.test(model))) return {};
  return { reasoning_effort: effort };
}

/**
 * OpenAI caches automatically; the key only routes requests to the same machine. OpenRouter forwards the marks of Anthropic's
 * models, and sets them itself on request.
 */
function cacheHints({ cacheKey, model }: ModelRequest, family: string): JsonObject {
  if (family === "openai" && cacheKey !== undefined) return { prompt_cache_key: cacheKey };
  return family === "openrouter" && model.startsWith("anthropic/") ? { cache_control: { type: "ephemeral" } } : {};
}

/** OpenAI's newer models refuse the old name; most other servers support only that one. */
function limit(maxOutputTokens: number | undefined, { family, dialect }: WireTarget): JsonObject {
  if (maxOutputTokens === undefined) return {};
  return { [dialect?.limit ?? (family === "openai" ? "max_completion_tokens" : "max_tokens")]: maxOutputTokens };
}

/** The ends of ids differ most. */
function nineCharacters(call: string): string {
  return call
    .replace(/[^a-zA-Z0-9]/g, "")
    .slice(-9)
    .padStart(9, "0");
}

function isSendable(block: AssistantBlock, { family, dialect }: WireTarget): boolean {
  if (block.type === "opaque") return false;
  if (block.type !== "thinking") return true;
  return dialect?.thinking !== "kept-back" && block.provider === family && thinkingField(block.opaque) !== undefined;
}

type IdOf = (call: string) => string;

function thinkingField(opaque: JsonValue | undefined): ThinkingField | undefined {
  return THINKING_FIELDS.find((field) => field === asObject(opaque).field);
}

function encodeUser(turn: UserTurn, idOf: IdOf): readonly JsonObject[] {
  const images = turn.results.flatMap((result) => splitContent(result.content).images);
  const content = [...imagesOfResults(images), ...turn.content];
  return [
    ...turn.results.map((result) => encodeResult(result, idOf)),
    ...(content.length > 0 ? [{ role: "user", content: encodeContent(content) }] : []),
  ];
}

function imagesOfResults(images: readonly ImageBlock[]): readonly (TextBlock | ImageBlock)[] {
  return images.length === 0 ? [] : [{ type: "text", text: "Images from the tool results above:" }, ...images];
}

function encodeResult(result: ToolResultBlock, idOf: IdOf): JsonObject {
  const { text, images } = splitContent(result.content);
  const empty = images.length > 0 ? "(an image, below)" : "(no output)";
  return { role: "tool", tool_call_id: idOf(result.call), content: text || empty };
}

function encodeContent(content: readonly InputContent[]): JsonValue {
  if (content.every(({ type }) => type === "text")) return splitContent(withoutAudio(content)).text;
  return content.map((block) => {
    if (block.type === "text") return { type: "text", text: block.text };
    if (block.type === "image")
      return { type: "image_url", image_url: { url: `data:${block.media_type};base64,${block.data}` } };
    return {
      type: "input_audio",
      input_audio: { data: block.data, format: CHAT_FORMATS.get(block.media_type) ?? "wav" },
    };
  });
}

function encodeAssistant(turn: AssistantTurn, idOf: IdOf): readonly JsonObject[] {
  let content = "";
  const thinking: Record<string, string> = {};
  const calls: JsonObject[] = [];
  for (const block of turn.blocks) {
    if (block.type === "text") content += block.text;
    else if (block.type === "tool_use") {
      const call = { name: callName(block.tool), arguments: JSON.stringify(block.args) };
      calls.push({ id: idOf(block.call), type: "function", function: call });
    } else if (block.type === "thinking" && turn.current) {
      const field = thinkingField(block.opaque) ?? THINKING_FIELDS[0];
      thinking[field] = (thinking[field] ?? "") + block.text;
    }
  }
  return [
    {
      role: "assistant",
      content: content === "" ? null : content,
      ...thinking,
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  ];
}
