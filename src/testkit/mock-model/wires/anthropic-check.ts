/** Describes what the Messages API refuses, in its own words. As there, only the first error is reported. */
import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json.js";
import { asList, asText } from "./wire.js";

export function checkMessagesRequest(body: JsonObject): string | undefined {
  return checkFields(body) ?? checkTools(body) ?? checkMessages(asList(body.messages)) ?? checkCacheMarks(body);
}

function checkFields(body: JsonObject): string | undefined {
  for (const field of ["model", "max_tokens", "messages"]) {
    if (body[field] === undefined) return `${field}: Field required`;
  }
  const { max_tokens: limit, messages, system, thinking } = body;
  if (typeof limit !== "number" || !Number.isInteger(limit)) return "max_tokens: Input should be a valid integer";
  if (limit < 1) return "max_tokens: Input should be greater than or equal to 1";
  if (!Array.isArray(messages)) return "messages: Input should be a valid list";
  if (messages.length === 0) return "messages: at least one message is required";
  return firstOf(asList(system), (block) => emptyText(block, "system")) ?? checkBudget(thinking, limit);
}

function checkBudget(thinking: JsonValue | undefined, limit: number): string | undefined {
  if (!isJsonObject(thinking) || thinking.type !== "enabled") return undefined;
  if (typeof thinking.budget_tokens !== "number") return "thinking.enabled.budget_tokens: Field required";
  if (thinking.budget_tokens < 1024) {
    return "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024";
  }
  return thinking.budget_tokens < limit ? undefined : "`max_tokens` must be greater than `thinking.budget_tokens`.";
}

/* ---- tools ---- */

function checkTools(body: JsonObject): string | undefined {
  const tools = asList(body.tools);
  const names = new Set<string>();
  for (const [i, tool] of tools.entries()) {
    if (!isJsonObject(tool)) return `tools.${i}: Input should be a valid dictionary or object to extract fields from`;
    const name = asText(tool.name);
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name)) {
      return `tools.${i}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`;
    }
    const isCustom = tool.type === undefined || tool.type === "custom";
    if (isCustom && !isJsonObject(tool.input_schema)) return `tools.${i}.custom.input_schema: Field required`;
    if (isCustom && (tool.input_schema as JsonObject).type !== "object") {
      return `tools.${i}.custom.input_schema.type: Input should be 'object'`;
    }
    if (names.has(name)) return "tools: Tool names must be unique.";
    names.add(name);
  }
  return checkToolChoice(body.tool_choice, names);
}

function checkToolChoice(choice: JsonValue | undefined, names: ReadonlySet<string>): string | undefined {
  if (choice === undefined) return undefined;
  if (!isJsonObject(choice)) return "tool_choice: Input should be a valid dictionary or object to extract fields from";
  const type = asText(choice.type);
  if (!["auto", "any", "tool", "none"].includes(type)) {
    return `tool_choice: Input tag '${type}' found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'`;
  }
  if (names.size === 0) return "tool_choice may only be specified while providing tools.";
  if (type === "tool" && !names.has(asText(choice.name))) {
    return `Tool '${asText(choice.name)}' not found in provided tools`;
  }
  return undefined;
}

/* ---- messages ---- */

/** A system message may be inside the conversation, but not at its beginning. */
const ROLES = ["user", "assistant", "system"];

interface Turn {
  /** Index of the message. Consecutive messages of one role count as one, with the index of the first. */
  readonly index: number;
  readonly role: string;
  readonly blocks: readonly JsonObject[];
}

function checkMessages(messages: readonly JsonValue[]): string | undefined {
  const turns: Turn[] = [];
  for (const [index, message] of messages.entries()) {
    if (!isJsonObject(message))
      return `messages.${index}: Input should be a valid dictionary or object to extract fields from`;
    const role = asText(message.role);
    if (!ROLES.includes(role)) return `messages.${index}.role: Input should be 'user', 'assistant' or 'system'`;
    const blocks = blocksOf(message.content);
    if (blocks === undefined) return `messages.${index}.content: Input should be a valid list`;
    const problem = checkContent(blocks, { index, role, isLast: index === messages.length - 1 });
    if (problem !== undefined) return problem;
    const last = turns.at(-1);
    if (last?.role === role) turns[turns.length - 1] = { ...last, blocks: [...last.blocks, ...blocks] };
    else turns.push({ index, role, blocks });
  }
  if (turns[0]?.role !== "user") return 'messages: first message must use the "user" role';
  return checkToolPairs(turns);
}

function blocksOf(content: JsonValue | undefined): readonly JsonObject[] | undefined {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return Array.isArray(content) && content.every(isJsonObject) ? content : undefined;
}

interface Place {
  readonly index: number;
  readonly role: string;
  readonly isLast: boolean;
}

function checkContent(blocks: readonly JsonObject[], { index, role, isLast }: Place): string | undefined {
  if (blocks.length === 0 && !(isLast && role === "assistant")) {
    return `messages.${index}: all messages must have non-empty content except for the optional final assistant message`;
  }
  for (const [i, block] of blocks.entries()) {
    const problem = checkBlock(block, `messages.${index}.content.${i}`);
    if (problem !== undefined) return problem;
  }
  const final = blocks.at(-1);
  if (isLast && role === "assistant" && final?.type === "text" && /\s$/.test(asText(final.text))) {
    return "messages: final assistant content cannot end with trailing whitespace";
  }
  return undefined;
}

function checkBlock(block: JsonObject, where: string): string | undefined {
  switch (block.type) {
    case "text":
      if (asText(block.text) === "" && block.cache_control !== undefined) {
        return `${where}.text: cache_control cannot be set for empty text blocks`;
      }
      return emptyText(block, "messages");
    case "tool_use":
      if (!/^[a-zA-Z0-9_-]+$/.test(asText(block.id))) {
        return `${where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
      }
      if (block.input === undefined) return `${where}.tool_use.input: Field required`;
      return isJsonObject(block.input) ? undefined : `${where}.tool_use.input: Input should be a valid dictionary`;
    case "tool_result":
      return firstOf(asList(block.content), (inner) => emptyText(inner, "messages"));
    case "thinking":
      return checkThinking(block, where);
    default:
      return block.type === undefined ? `${where}.type: Field required` : undefined;
  }
}

function emptyText(block: JsonValue, where: string): string | undefined {
  if (!isJsonObject(block) || block.type !== "text") return undefined;
  const text = asText(block.text);
  if (text === "") return `${where}: text content blocks must be non-empty`;
  return text.trim() === "" ? `${where}: text content blocks must contain non-whitespace text` : undefined;
}

function firstOf(blocks: readonly JsonValue[], check: (block: JsonValue) => string | undefined): string | undefined {
  for (const block of blocks) {
    const problem = check(block);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Results at the start of the next message must answer every call; no result without a call; no id twice. */
function checkToolPairs(turns: readonly Turn[]): string | undefined {
  const seen = new Set<string>();
  for (const [i, turn] of turns.entries()) {
    const calls = turn.blocks.filter((block) => block.type === "tool_use").map((block) => asText(block.id));
    for (const id of calls) {
      if (seen.has(id)) return "messages: `tool_use` ids must be unique";
      seen.add(id);
    }
    const problem = turn.role === "user" ? checkResults(turn, turns[i - 1]) : undefined;
    if (problem !== undefined) return problem;
    const answered = openingResults(turns[i + 1]);
    const missing = calls.filter((id) => !answered.includes(id));
    if (missing.length > 0) {
      return `messages.${turn.index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
    }
  }
  return undefined;
}

function checkResults(turn: Turn, before: Turn | undefined): string | undefined {
  const asked = new Set((before?.blocks ?? []).filter((block) => block.type === "tool_use").map((block) => block.id));
  const answered = new Set<JsonValue | undefined>();
  for (const [i, block] of turn.blocks.entries()) {
    if (block.type !== "tool_result") continue;
    const id = block.tool_use_id;
    if (!asked.has(id)) {
      return `messages.${turn.index}.content.${i}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${asText(id)}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
    }
    if (answered.has(id)) {
      return `messages.${turn.index}.content.${i}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${asText(id)}`;
    }
    answered.add(id);
  }
  return undefined;
}

function openingResults(turn: Turn | undefined): readonly string[] {
  const blocks = turn?.blocks ?? [];
  const end = blocks.findIndex((block) => block.type !== "tool_result");
  return blocks.slice(0, end === -1 ? blocks.length : end).map((block) => asText(block.tool_use_id));
}

function checkCacheMarks(body: JsonObject): string | undefined {
  const contents = asList(body.messages).flatMap((message) => (isJsonObject(message) ? asList(message.content) : []));
  const nested = contents.flatMap((block) => (isJsonObject(block) ? asList(block.content) : []));
  const blocks = [...asList(body.tools), ...asList(body.system), ...contents, ...nested];
  const marked = blocks.filter((block) => isJsonObject(block) && isJsonObject(block.cache_control)).length;
  return marked > 4 ? `A maximum of 4 blocks with cache_control may be provided. Found ${marked}.` : undefined;
}

/* ---- thinking ---- */

const SIGNATURE_PREFIX = Buffer.from("mock-signature:").toString("base64");

/** Signs the text, so that a changed text is detected, as with the real service. */
export function signThinking(text: string): string {
  return SIGNATURE_PREFIX + createHash("sha256").update(text).digest("base64");
}

/** A signature that we did not make cannot be checked. */
function checkThinking(block: JsonObject, where: string): string | undefined {
  const { signature, thinking } = block;
  if (typeof thinking !== "string") return `${where}.thinking.thinking: Field required`;
  if (typeof signature !== "string") return `${where}.thinking.signature: Field required`;
  if (block.cache_control !== undefined) return `${where}.thinking.cache_control: Extra inputs are not permitted`;
  const forged = signature === "" || (signature.startsWith(SIGNATURE_PREFIX) && signature !== signThinking(thinking));
  return forged ? `${where}: Invalid \`signature\` in \`thinking\` block` : undefined;
}
