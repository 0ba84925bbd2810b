/**
 * Requests, answers and calls as executable hooks see them: the JSON of the Anthropic Messages API. The answers are checked; an error message
 * completes the sentence "HOOK …".
 */
import type { ModelEvent, ModelRequest, ToolSpec } from "../../engine/ports.js";
import {
  type AssistantBlock,
  type Message,
  type ResultContent,
  type ToolUseBlock,
  text,
  type UserBlock,
} from "../../protocol/content.js";
import type { CallId } from "../../protocol/ids.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import { NO_USAGE, type Usage } from "../../protocol/usage.js";

/* ---- to a hook ---- */

export function payloadJson(request: ModelRequest): JsonObject {
  const { model, system, messages, tools, maxOutputTokens, effort } = request;
  return {
    model,
    system,
    messages: messagesJson(messages),
    tools: tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema })),
    ...(maxOutputTokens !== undefined && { max_tokens: maxOutputTokens }),
    ...(effort !== undefined && { effort }),
  };
}

export function messagesJson(messages: readonly Message[]): JsonValue[] {
  return messages.map(({ role, content }) => ({ role, content: content.map(blockJson) }));
}

function blockJson(block: AssistantBlock | UserBlock): JsonObject {
  if (block.type === "tool_use") return callJson(block);
  if (block.type !== "tool_result") return { ...(block as unknown as JsonObject) };
  const { call, tool, content, is_error } = block;
  return { type: "tool_result", tool_use_id: call, name: tool, content: resultJson(content), is_error };
}

export function resultJson(content: readonly ResultContent[]): JsonValue[] {
  return content.map((block) => ({ ...(block as unknown as JsonObject) }));
}

export function callJson({ call, tool, args }: ToolUseBlock): JsonObject {
  return { type: "tool_use", id: call, name: tool, input: args };
}

export function usageJson({ input, output, cache_read, cache_write }: Usage): JsonObject {
  return {
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: cache_read,
    cache_creation_input_tokens: cache_write,
  };
}

/* ---- from a hook ---- */

/** `model` and everything that the hook leaves out stay unchanged. */
export function readPayload(value: JsonValue | undefined, before: ModelRequest): ModelRequest {
  if (!isJsonObject(value)) throw new Error('printed a "payload" that is not an object');
  const { system = before.system, messages, tools, max_tokens, effort } = value;
  if (typeof system !== "string") throw new Error('printed a "payload" whose "system" is not text');
  if (max_tokens !== undefined && !(typeof max_tokens === "number" && max_tokens >= 1))
    throw new Error('printed a "payload" whose "max_tokens" is not a number');
  if (effort !== undefined && effort !== "low" && effort !== "medium" && effort !== "high")
    throw new Error('printed a "payload" whose "effort" is not low, medium or high');
  return {
    ...before,
    system,
    messages: messages === undefined ? before.messages : readMessages(messages),
    tools: tools === undefined ? before.tools : readTools(tools),
    ...(typeof max_tokens === "number" && { maxOutputTokens: Math.floor(max_tokens) }),
    ...(effort !== undefined && { effort }),
  };
}

function readTools(value: JsonValue): readonly ToolSpec[] {
  if (!Array.isArray(value)) throw new Error('printed a "payload" whose "tools" is not a list');
  return value.map((tool) => {
    if (!isJsonObject(tool) || typeof tool.name !== "string" || !isJsonObject(tool.input_schema))
      throw new Error('printed a "payload" with a tool that lacks "name" or "input_schema"');
    const { name, description = "", input_schema: inputSchema } = tool;
    return { name, description: String(description), inputSchema };
  });
}

function readMessages(value: JsonValue): readonly Message[] {
  if (!Array.isArray(value)) throw new Error('printed "messages" that are not a list');
  return value.map((message): Message => {
    const { role, content } = isJsonObject(message) ? message : {};
    if (role !== "user" && role !== "assistant")
      throw new Error('printed a message whose "role" is neither user nor assistant');
    const list = typeof content === "string" ? [{ type: "text", text: content }] : content;
    if (!Array.isArray(list)) throw new Error('printed a message whose "content" is not a list');
    return { role, content: list.map(readBlock) } as Message;
  });
}

function readBlock(block: JsonValue): AssistantBlock | UserBlock {
  if (!isJsonObject(block)) throw new Error("printed a message with a block that is not an object");
  switch (block.type) {
    case "text":
      return text(textOf(block.text));
    case "tool_use":
      return { type: "tool_use", call: idOf(block.id), tool: textOf(block.name), args: argsOf(block.input) };
    case "tool_result":
      return {
        type: "tool_result",
        call: idOf(block.tool_use_id),
        tool: typeof block.name === "string" ? block.name : "",
        content: readResult(block.content),
        is_error: block.is_error === true,
      };
    case "image":
    case "thinking":
    case "opaque":
    case "yield":
      return block as unknown as UserBlock;
    default:
      throw new Error(`printed a message with a block of the unknown type ${JSON.stringify(block.type ?? null)}`);
  }
}

function readResult(value: JsonValue | undefined): readonly ResultContent[] {
  if (value === undefined) return [];
  if (typeof value === "string") return [text(value)];
  if (!Array.isArray(value)) throw new Error('printed a result whose "content" is neither text nor a list');
  return value.map((block) => {
    if (isJsonObject(block) && block.type === "text") return text(textOf(block.text));
    if (isJsonObject(block) && block.type === "image") return block as unknown as ResultContent;
    throw new Error("printed a result with a block that is neither text nor an image");
  });
}

/** An answer of a model, as the events of a wire. */
export function readResponse(value: JsonValue | undefined): readonly ModelEvent[] {
  if (!isJsonObject(value)) throw new Error('printed a "response" that is not an object');
  const blocks = typeof value.content === "string" ? [{ type: "text", text: value.content }] : (value.content ?? []);
  if (!Array.isArray(blocks)) throw new Error('printed a "response" whose "content" is not a list');
  const events = blocks.flatMap(answerEvents);
  const hasCalls = blocks.some((block) => isJsonObject(block) && block.type === "tool_use");
  const usage = isJsonObject(value.usage) ? [{ type: "usage" as const, usage: readUsage(value.usage) }] : [];
  const isCut = value.stop_reason === "max_tokens" || value.stop_reason === "length";
  return [...events, ...usage, { type: "stop", reason: hasCalls ? "tool_calls" : isCut ? "length" : "end" }];
}

function answerEvents(block: JsonValue): ModelEvent[] {
  if (isJsonObject(block) && block.type === "text") {
    const words = textOf(block.text);
    return words === ""
      ? []
      : [
          { type: "text", text: words },
          { type: "block", block: text(words) },
        ];
  }
  if (isJsonObject(block) && block.type === "tool_use")
    return [{ type: "block", block: { type: "tool_call", tool: textOf(block.name), args: argsOf(block.input) } }];
  throw new Error('printed a "response" with a block that is neither text nor tool_use');
}

function readUsage({ input_tokens, output_tokens }: JsonObject): Usage {
  const count = (value: JsonValue | undefined) => (typeof value === "number" && value >= 0 ? Math.floor(value) : 0);
  return { ...NO_USAGE, input: count(input_tokens), output: count(output_tokens) };
}

/** A hook's answer about one call. */
export interface CallAnswer {
  readonly id: string;
  readonly input?: JsonObject;
  readonly decision?: "ask" | "deny";
  readonly reason?: string;
}

export function readCalls(value: JsonValue): readonly CallAnswer[] {
  if (!Array.isArray(value)) throw new Error('printed "tool_calls" that are not a list');
  return value.map((call) => {
    if (!isJsonObject(call) || typeof call.id !== "string") throw new Error('printed a call without an "id"');
    const { id, input, decision, reason } = call;
    if (decision === "allow") throw new Error("tried to allow a call; a hook can only make permissions stricter");
    if (decision !== undefined && decision !== "ask" && decision !== "deny")
      throw new Error('printed a call whose "decision" is neither ask nor deny');
    return {
      id,
      ...(input !== undefined && { input: argsOf(input) }),
      ...(decision !== undefined && { decision }),
      ...(typeof reason === "string" && { reason }),
    };
  });
}

export interface ResultAnswer {
  readonly id: string;
  readonly content: readonly ResultContent[];
  readonly isError: boolean;
}

export function readResults(value: JsonValue): readonly ResultAnswer[] {
  if (!Array.isArray(value)) throw new Error('printed "results" that are not a list');
  return value.map((result) => {
    const id = isJsonObject(result) ? (result.tool_use_id ?? result.id) : undefined;
    if (!isJsonObject(result) || typeof id !== "string") throw new Error('printed a result without a "tool_use_id"');
    return { id, content: readResult(result.content), isError: result.is_error === true };
  });
}

function textOf(value: JsonValue | undefined): string {
  if (typeof value !== "string") throw new Error("printed a block without its text or name");
  return value;
}

function idOf(value: JsonValue | undefined): CallId {
  return textOf(value) as CallId;
}

function argsOf(value: JsonValue | undefined): JsonObject {
  if (!isJsonObject(value)) throw new Error('printed a call whose "input" is not an object');
  return value;
}
