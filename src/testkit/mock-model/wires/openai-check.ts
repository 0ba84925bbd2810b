/** Describes what Chat Completions refuses, in its own words. As there, only the first error is reported. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json.js";
import { asList, asText } from "./wire.js";

export interface Complaint {
  readonly message: string;
  readonly param?: string;
  readonly code?: string | null;
}

export function checkChatRequest(body: JsonObject): Complaint | undefined {
  return checkFields(body) ?? checkTools(body) ?? checkMessages(asList(body.messages));
}

function checkFields(body: JsonObject): Complaint | undefined {
  if (typeof body.model !== "string" || body.model === "") return { message: "you must provide a model parameter" };
  if (body.messages === undefined) return missing("messages");
  if (!Array.isArray(body.messages)) return notA("an array of objects", { param: "messages", value: body.messages });
  if (body.messages.length === 0) return emptyList("messages");
  if (body.stream_options != null && body.stream !== true) {
    const message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
    return { message, param: "stream_options" };
  }
  return undefined;
}

function checkTools(body: JsonObject): Complaint | undefined {
  if (body.tools == null) {
    for (const param of ["tool_choice", "parallel_tool_calls"]) {
      if (body[param] == null) continue;
      const message = `Invalid value for '${param}': '${param}' is only allowed when 'tools' are specified.`;
      return { message, param };
    }
    return undefined;
  }
  const tools = asList(body.tools);
  if (tools.length === 0) return emptyList("tools");
  for (const [i, tool] of tools.entries()) {
    const param = `tools[${i}]`;
    if (!isJsonObject(tool)) return notA("an object", { param, value: tool });
    if (tool.type === undefined) return missing(`${param}.type`);
    if (tool.type !== "function") continue;
    if (!isJsonObject(tool.function)) return missing(`${param}.function`);
    const problem = checkName(asText(tool.function.name), `${param}.function.name`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

export function checkName(name: string, param: string): Complaint | undefined {
  if (/^[a-zA-Z0-9_-]{1,64}$/.test(name)) return undefined;
  if (name === "") {
    const problem = "empty string. Expected a string with minimum length 1, but got an empty string instead.";
    return { message: `Invalid '${param}': ${problem}`, param, code: "empty_string" };
  }
  if (name.length > 64) return longerThan(64, { param, text: name });
  const problem = "string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.";
  return { message: `Invalid '${param}': ${problem}`, param, code: "invalid_value" };
}

/* ---- messages ---- */

const ROLES = ["system", "assistant", "user", "function", "tool", "developer"];

function checkMessages(messages: readonly JsonValue[]): Complaint | undefined {
  /** The calls of the last assistant message, and those of them that wait for their result. */
  let asked = new Set<string>();
  let waiting = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const param = `messages[${index}]`;
    if (!isJsonObject(message)) return notA("an object", { param, value: message });
    const problem = checkRole(asText(message.role), `${param}.role`) ?? checkToolMessage(message, { index, asked });
    if (problem !== undefined) return problem;
    if (message.role === "tool") {
      waiting.delete(asText(message.tool_call_id));
      continue;
    }
    if (waiting.size > 0) return unanswered(waiting, index);
    const inside = checkContent(message, index) ?? checkCalls(message, param);
    if (inside !== undefined) return inside;
    asked = new Set(asList(message.tool_calls).map((call) => (isJsonObject(call) ? asText(call.id) : "")));
    waiting = new Set(asked);
  }
  return waiting.size > 0 ? unanswered(waiting, messages.length) : undefined;
}

function checkRole(role: string, param: string): Complaint | undefined {
  if (ROLES.includes(role)) return undefined;
  const supported = "'system', 'assistant', 'user', 'function', 'tool', and 'developer'";
  return { message: `Invalid value: '${role}'. Supported values are: ${supported}.`, param, code: "invalid_value" };
}

function unanswered(waiting: ReadonlySet<string>, index: number): Complaint {
  return {
    message: `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...waiting].join(", ")}`,
    param: `messages.[${index}].role`,
  };
}

interface ToolPlace {
  readonly index: number;
  readonly asked: ReadonlySet<string>;
}

function checkToolMessage(message: JsonObject, { index, asked }: ToolPlace): Complaint | undefined {
  if (message.role !== "tool") return undefined;
  if (asked.size === 0) {
    return {
      message:
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      param: `messages.[${index}].role`,
    };
  }
  if (typeof message.tool_call_id !== "string") return missing(`messages[${index}].tool_call_id`);
  if (!asked.has(message.tool_call_id)) {
    return {
      message: `Invalid parameter: 'tool_call_id' of '${message.tool_call_id}' not found in 'tool_calls' of previous message.`,
      param: `messages.[${index}].tool_call_id`,
    };
  }
  return checkContent(message, index);
}

function checkContent({ role, content, tool_calls: calls }: JsonObject, index: number): Complaint | undefined {
  if (typeof content === "string") return undefined;
  if (content == null) {
    if (role === "assistant" && calls != null) return undefined;
    const message = "Invalid value for 'content': expected a string, got null.";
    return { message, param: `messages.[${index}].content` };
  }
  const param = `messages[${index}].content`;
  if (!Array.isArray(content)) return notA("one of a string or array of objects", { param, value: content });
  return content.length === 0 ? emptyList(param) : undefined;
}

function checkCalls(message: JsonObject, where: string): Complaint | undefined {
  if (message.tool_calls == null) return undefined;
  const calls = asList(message.tool_calls);
  if (calls.length === 0) return emptyList(`${where}.tool_calls`);
  for (const [i, call] of calls.entries()) {
    const param = `${where}.tool_calls[${i}]`;
    if (!isJsonObject(call)) return notA("an object", { param, value: call });
    if (typeof call.id !== "string") return missing(`${param}.id`);
    if (call.id.length > 40) return longerThan(40, { param: `${param}.id`, text: call.id });
    if (call.type === undefined) return missing(`${param}.type`);
    if (!isJsonObject(call.function)) return missing(`${param}.function`);
    const problem = checkName(asText(call.function.name), `${param}.function.name`);
    if (problem !== undefined) return problem;
    const { arguments: value } = call.function;
    if (typeof value !== "string") return notA("a string", { param: `${param}.function.arguments`, value });
  }
  return undefined;
}

/* ---- complaints ---- */

export function missing(param: string): Complaint {
  return { message: `Missing required parameter: '${param}'.`, param, code: "missing_required_parameter" };
}

export function emptyList(param: string): Complaint {
  const problem = "empty array. Expected an array with minimum length 1, but got an empty array instead.";
  return { message: `Invalid '${param}': ${problem}`, param, code: "empty_array" };
}

function longerThan(limit: number, { param, text }: { param: string; text: string }): Complaint {
  const problem = `string too long. Expected a string with maximum length ${limit}, but got a string with length ${text.length} instead.`;
  return { message: `Invalid '${param}': ${problem}`, param, code: "string_above_max_length" };
}

export function notA(expected: string, { param, value }: { param: string; value: JsonValue | undefined }): Complaint {
  const message = `Invalid type for '${param}': expected ${expected}, but got ${kindOf(value)} instead.`;
  return { message, param, code: "invalid_type" };
}

function kindOf(value: JsonValue | undefined): string {
  if (value == null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
