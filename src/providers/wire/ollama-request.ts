/**
 * Encodes a canonical request for Ollama's own API.
 *
 * 1. `num_ctx` holds the whole request and room for the answer. Ollama's default is small and it cuts silently.
 * 2. It only doubles, because Ollama reloads the model for every new size.
 * 3. `content` is always a string; `think` is sent only if the user set an effort.
 */
import type { ModelRequest } from "../../engine/ports.js";
import type { AssistantBlock } from "../../protocol/content.js";
import type { JsonObject } from "../../protocol/json.js";
import { contextStep } from "../ollama/context-window.js";
import { estimateRequestTokens } from "../tokens/estimate-request.js";
import { type AssistantTurn, arrange, splitContent, type UserTurn, withoutAudio } from "./conversation.js";
import { asObject } from "./fields.js";
import { unversionedUrl } from "./url.js";
import type { WireRequest, WireTarget } from "./wire.js";

/** Room for an answer of unknown length: thinking, or a file of some hundred lines. */
const ANSWER_TOKENS = 4096;

const FAMILY = "ollama";
/** The estimate may be too low by this much (docs/design/costs.md); too little context costs a second request. */
const MARGIN = 1.2;

/** The context that a request needs, with room for its answer. `ratio`: the tokens that this model counts per estimated token. */
export function neededContext(request: ModelRequest, ratio = MARGIN): number {
  return Math.ceil(estimateRequestTokens(request, FAMILY) * ratio) + (request.maxOutputTokens ?? ANSWER_TOKENS);
}

/** Other models only support on and off. */
const HAS_LEVELS = /\bgpt-oss\b/;

export function encodeOllama(request: ModelRequest, target: WireTarget): WireRequest {
  const messages: JsonObject[] = [];
  if (request.system.trim() !== "") messages.push({ role: "system", content: request.system });
  for (const turn of arrange(request.messages, (block) => isSendable(block, target.family))) {
    messages.push(...(turn.role === "user" ? encodeUser(turn) : [encodeAssistant(turn)]));
  }
  const tools = request.tools.map((tool) => ({
    type: "function",
    function: { name: tool.name, description: tool.description, parameters: tool.inputSchema },
  }));
  const { options, ...extra } = target.extra ?? {};
  return {
    url: unversionedUrl(target.baseUrl, "/api/chat"),
    headers: {},
    body: {
      model: request.model,
      messages,
      stream: true,
      ...(tools.length > 0 && { tools }),
      ...(request.answerSchema !== undefined && { format: request.answerSchema }),
      // With this the server refuses a request that does not fit. Otherwise it would cut it silently.
      truncate: false,
      ...(request.effort !== undefined && { think: HAS_LEVELS.test(request.model) ? request.effort : true }),
      ...extra,
      options: {
        num_ctx: contextStep(neededContext(request), target.maxContextTokens),
        ...(request.maxOutputTokens !== undefined && { num_predict: request.maxOutputTokens }),
        ...asObject(options),
      },
    },
  };
}

function isSendable(block: AssistantBlock, family: string): boolean {
  return block.type !== "opaque" && (block.type !== "thinking" || block.provider === family);
}

function encodeUser(turn: UserTurn): readonly JsonObject[] {
  const messages: JsonObject[] = turn.results.map((result) => ({
    role: "tool",
    tool_name: result.tool,
    tool_call_id: result.call,
    ...encodeContent(result.content),
  }));
  if (turn.content.length > 0) messages.push({ role: "user", ...encodeContent(turn.content) });
  return messages;
}

function encodeContent(content: UserTurn["content"]): JsonObject {
  const { text, images } = splitContent(withoutAudio(content));
  return { content: text, ...(images.length > 0 && { images: images.map((image) => image.data) }) };
}

function encodeAssistant(turn: AssistantTurn): JsonObject {
  let content = "";
  let thinking = "";
  const calls: JsonObject[] = [];
  for (const block of turn.blocks) {
    if (block.type === "text") content += block.text;
    else if (block.type === "thinking" && turn.current) thinking += block.text;
    else if (block.type === "tool_use") {
      calls.push({ id: block.call, function: { name: block.tool, arguments: block.args } });
    }
  }
  return {
    role: "assistant",
    content,
    ...(thinking !== "" && { thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}
