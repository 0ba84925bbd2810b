/**
 * Encodes a canonical request for OpenAI Responses.
 *
 * 1. OpenAI stores nothing. Requests ask for encrypted reasoning and send it back as the same items, each before the item that
 *    followed it: OpenAI refuses a reasoning item at the end.
 * 2. Calls and results are separate items, paired by the call id.
 * 3. OpenAI's own items go back unchanged, except one whose result is missing.
 */
import type { ModelRequest, ToolSpec } from "../../engine/ports.js";
import type {
  AssistantBlock,
  ImageBlock,
  TextBlock,
  ThinkingBlock,
  ToolResultBlock,
  ToolUseBlock,
} from "../../protocol/content.js";
import type { JsonObject, JsonValue } from "../../protocol/json.js";
import { type AssistantTurn, arrange, callName, type UserTurn, withoutAudio } from "./conversation.js";
import { asList, asObject, asText } from "./fields.js";
import { WITH_PLAIN_TEXT_TOOLS, WITHOUT_REASONING } from "./openai-models.js";
import { compatibleUrl } from "./url.js";
import type { WireRequest, WireTarget } from "./wire.js";

/** Plain thinking, as open models send it, goes back unchanged until its answer is complete. */
export const PLAIN_REASONING = { kind: "reasoning_text" } as const;

/** OpenAI refuses a lower limit. */
const LEAST_OUTPUT = 16;

/** Calls of client tools that Oxbow never offers: without a result they would make the request invalid. */
const UNANSWERABLE =
  /^(custom_tool_call|local_shell_call|shell_call|apply_patch_call|computer_call|mcp_approval_request)$/;

export function encodeResponses(request: ModelRequest, target: WireTarget): WireRequest {
  const turns = arrange(request.messages, (block) => isSendable(block, target.family));
  const freeform = freeformOf(request, target);
  const input = turns.flatMap((turn) =>
    turn.role === "user" ? encodeUser(turn, freeform) : encodeAssistant(turn, freeform),
  );
  const own = request.tools.map((tool) => encodeTool(tool, freeform));
  const tools = request.webSearch ? [...own, { type: "web_search" }] : own;
  const reasons = !WITHOUT_REASONING.test(request.model);
  return {
    url: compatibleUrl(target.baseUrl, "/responses"),
    headers: {},
    body: {
      model: request.model,
      ...(request.system.trim() !== "" && { instructions: request.system }),
      input,
      ...(tools.length > 0 && { tools }),
      stream: true,
      store: false,
      ...((reasons || request.webSearch) && {
        include: [
          ...(reasons ? ["reasoning.encrypted_content"] : []),
          ...(request.webSearch ? ["web_search_call.action.sources"] : []),
        ],
      }),
      ...(reasons && request.effort !== undefined && { reasoning: { effort: request.effort } }),
      ...(target.family === "openai" && request.cacheKey !== undefined && { prompt_cache_key: request.cacheKey }),
      ...(request.maxOutputTokens !== undefined &&
        target.dialect?.outputLimit !== "refused" && {
          max_output_tokens: Math.max(request.maxOutputTokens, LEAST_OUTPUT),
        }),
      ...target.extra,
    },
  };
}

/** Tools that take plain text, and the parameter that it is. */
type Freeform = ReadonlyMap<string, string>;

/** Only OpenAI's own service knows such tools, and only with models that were trained on them. */
function freeformOf({ model, tools }: ModelRequest, { family }: WireTarget): Freeform {
  if (family !== "openai" || !WITH_PLAIN_TEXT_TOOLS.test(model)) return new Map();
  return new Map(tools.flatMap(({ name, freeform }) => (freeform === undefined ? [] : [[name, freeform.parameter]])));
}

function encodeTool({ name, description, inputSchema, freeform }: ToolSpec, known: Freeform): JsonObject {
  if (freeform === undefined || !known.has(name))
    return { type: "function", name, description, parameters: inputSchema, strict: false };
  return {
    type: "custom",
    name,
    description,
    format: { type: "grammar", syntax: "lark", definition: freeform.grammar },
  };
}

function isSendable(block: AssistantBlock, family: string): boolean {
  if (block.type === "opaque") {
    return block.provider === family && !UNANSWERABLE.test(asText(asObject(block.data).type));
  }
  return block.type !== "thinking" || (block.provider === family && isReasoning(block.opaque));
}

function isReasoning(opaque: JsonValue | undefined): boolean {
  const { encrypted_content: encrypted, kind } = asObject(opaque);
  return typeof encrypted === "string" || kind === PLAIN_REASONING.kind;
}

function encodeUser(turn: UserTurn, freeform: Freeform): readonly JsonObject[] {
  const message =
    turn.content.length > 0 ? [{ role: "user", content: withoutAudio(turn.content).map(encodeContent) }] : [];
  return [...turn.results.map((result) => encodeResult(result, freeform)), ...message];
}

function encodeContent(block: TextBlock | ImageBlock): JsonObject {
  if (block.type === "text") return { type: "input_text", text: block.text };
  return { type: "input_image", detail: "auto", image_url: `data:${block.media_type};base64,${block.data}` };
}

/** A list only if it contains an image: merely compatible servers accept only text. */
function encodeResult(result: ToolResultBlock, freeform: Freeform): JsonObject {
  const content = result.content.filter((block) => block.type === "image" || block.text.trim() !== "");
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const output =
    texts.length < content.length ? content.map(encodeContent) : texts.length > 0 ? texts.join("\n\n") : "(no output)";
  const type = freeform.has(result.tool) ? "custom_tool_call_output" : "function_call_output";
  return { type, call_id: result.call, output };
}

function encodeAssistant(turn: AssistantTurn, freeform: Freeform): readonly JsonObject[] {
  const items: JsonObject[] = [];
  let phase: JsonObject = {};
  for (const block of turn.blocks) {
    switch (block.type) {
      case "text":
        items.push({ role: "assistant", content: block.text, ...phase });
        phase = {};
        break;
      case "thinking":
        items.push(...encodeReasoning(block, turn));
        break;
      case "tool_use": {
        items.push(encodeCall(block, freeform));
        break;
      }
      case "opaque": {
        const item = asObject(block.data);
        if (item.type === "message") phase = { phase: item.phase };
        else items.push(item);
        break;
      }
      case "yield":
        break;
    }
  }
  return items.slice(0, items.findLastIndex((item) => item.type !== "reasoning") + 1);
}

function encodeCall({ tool, call, args }: ToolUseBlock, freeform: Freeform): JsonObject {
  const name = callName(tool);
  const parameter = freeform.get(tool);
  if (parameter === undefined) return { type: "function_call", call_id: call, name, arguments: JSON.stringify(args) };
  const text = args[parameter];
  return {
    type: "custom_tool_call",
    call_id: call,
    name,
    input: typeof text === "string" ? text : JSON.stringify(args),
  };
}

function encodeReasoning(block: ThinkingBlock, { current }: AssistantTurn): readonly JsonObject[] {
  const { id, encrypted_content: encrypted, summary } = asObject(block.opaque);
  const item = { type: "reasoning", ...(id !== undefined && { id }) };
  if (encrypted === undefined) {
    const content = [{ type: "reasoning_text", text: block.text }];
    return current ? [{ ...item, summary: [], content }] : [];
  }
  const texts = summary === undefined ? (block.text === "" ? [] : [block.text]) : asList(summary);
  return [
    { ...item, summary: texts.map((part) => ({ type: "summary_text", text: part })), encrypted_content: encrypted },
  ];
}
