/** Describes what the Responses API refuses, in its own words. As there, only the first error is reported. */
import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json.js";
import type { ErrorKind } from "../script/script.js";
import type { IdMint } from "./id-mint.js";
import { type Complaint as ChatComplaint, checkName, emptyList, missing, notA } from "./openai-check.js";
import { asList, asText } from "./wire.js";

interface Complaint extends ChatComplaint {
  /** Default: a bad request. */
  readonly kind?: ErrorKind;
}

export function checkResponsesRequest(body: JsonObject): Complaint | undefined {
  return checkFields(body) ?? checkTools(body) ?? checkInput(body);
}

function checkFields(body: JsonObject): Complaint | undefined {
  if (typeof body.model !== "string" || body.model === "") return missing("model");
  const { input, max_output_tokens: limit } = body;
  if (input === undefined) return missing("input");
  if (typeof input !== "string" && !Array.isArray(input)) {
    return notA("one of a string or array of input items", { param: "input", value: input });
  }
  if (input.length === 0) return Array.isArray(input) ? emptyList("input") : missing("input");
  if (body.messages !== undefined) {
    const message =
      "Unsupported parameter: 'messages'. In the Responses API, this parameter has moved to 'input'. Try again with the new parameter.";
    return { message, code: "unsupported_parameter" };
  }
  if (typeof limit !== "number" || limit >= 16) return undefined;
  const param = "max_output_tokens";
  const problem = `integer below minimum value. Expected a value >= 16, but got ${limit} instead.`;
  return { message: `Invalid '${param}': ${problem}`, param, code: "integer_below_min_value" };
}

function checkTools(body: JsonObject): Complaint | undefined {
  for (const [i, tool] of asList(body.tools).entries()) {
    const param = `tools[${i}]`;
    if (!isJsonObject(tool)) return notA("an object", { param, value: tool });
    if (tool.type === undefined) return missing(`${param}.type`);
    if (tool.type !== "function") continue;
    // The form of Chat Completions: the most common mistake of clients that switch.
    if (typeof tool.name !== "string") return missing(`${param}.name`);
    const problem = checkName(tool.name, `${param}.name`);
    if (problem !== undefined) return problem;
    if (!isJsonObject(tool.parameters)) return missing(`${param}.parameters`);
  }
  return undefined;
}

/* ---- input ---- */

function checkInput(body: JsonObject): Complaint | undefined {
  const items = asList(body.input);
  for (const [i, item] of items.entries()) {
    const param = `input[${i}]`;
    if (!isJsonObject(item)) return notA("an object", { param, value: item });
    const problem = checkItem(item, { param, stored: body.store !== false });
    if (problem !== undefined) return problem;
  }
  return checkPairs(items.filter(isJsonObject)) ?? checkFollowers(items.filter(isJsonObject));
}

interface Place {
  readonly param: string;
  readonly stored: boolean;
}

function checkItem(item: JsonObject, place: Place): Complaint | undefined {
  const { param } = place;
  switch (item.type ?? "message") {
    case "message":
      return checkMessage(item, param);
    case "reasoning":
      return checkReasoning(item, place);
    case "function_call":
      for (const name of ["call_id", "name", "arguments"]) {
        if (typeof item[name] !== "string") return missing(`${param}.${name}`);
      }
      return checkName(asText(item.name), `${param}.name`);
    case "function_call_output":
      if (typeof item.call_id !== "string") return missing(`${param}.call_id`);
      if (typeof item.output === "string") return undefined;
      if (item.output === undefined) return missing(`${param}.output`);
      return checkParts(item.output, { param: `${param}.output`, allowed: INPUT_PARTS });
    default:
      return undefined;
  }
}

const ROLES = ["assistant", "system", "developer", "user"];
const INPUT_PARTS = ["input_text", "input_image", "input_file"];
const OUTPUT_PARTS = ["output_text", "refusal"];

function checkMessage({ role, content }: JsonObject, where: string): Complaint | undefined {
  if (!ROLES.includes(asText(role))) {
    const message = `Invalid value: '${asText(role)}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.`;
    return { message, param: where, code: "invalid_value" };
  }
  if (typeof content === "string") return undefined;
  if (content === undefined) return missing(`${where}.content`);
  const allowed = role === "assistant" ? OUTPUT_PARTS : INPUT_PARTS;
  return checkParts(content, { param: `${where}.content`, allowed });
}

function checkParts(
  parts: JsonValue,
  { param, allowed }: { readonly param: string; readonly allowed: readonly string[] },
): Complaint | undefined {
  if (!Array.isArray(parts)) return notA("one of an array of objects or string", { param, value: parts });
  for (const [i, part] of (parts as readonly JsonValue[]).entries()) {
    const type = isJsonObject(part) ? asText(part.type) : "";
    if (!allowed.includes(type)) {
      const listed = allowed.map((name) => `'${name}'`).join(", ");
      const message = `Invalid value: '${type}'. Supported values are: ${listed}.`;
      return { message, param: `${param}[${i}]`, code: "invalid_value" };
    }
    const { image_url: image, file_id: file, text } = part as JsonObject;
    if (type === "input_image" && typeof image !== "string" && typeof file !== "string") {
      return missing(`${param}[${i}].image_url`);
    }
    if (type.endsWith("_text") && typeof text !== "string") return missing(`${param}[${i}].text`);
  }
  return undefined;
}

/** Every call has its result somewhere after it, and every result its call before it. */
function checkPairs(items: readonly JsonObject[]): Complaint | undefined {
  const waiting = new Set<string>();
  const asked = new Set<string>();
  for (const item of items) {
    const id = asText(item.call_id);
    if (item.type === "function_call") {
      asked.add(id);
      waiting.add(id);
    } else if (item.type === "function_call_output") {
      if (!asked.has(id)) {
        return { message: `No tool call found for function call output with call_id ${id}.`, param: "input" };
      }
      waiting.delete(id);
    }
  }
  const [open] = waiting;
  return open === undefined
    ? undefined
    : { message: `No tool output found for function call ${open}.`, param: "input" };
}

/* ---- reasoning ---- */

const ENCRYPTED_PREFIX = `gAAAAAB${Buffer.from("mock-reasoning").toString("base64url")}`;
const CHECKSUM = 16;

/** Only the service can read it, and it detects changes. */
export function encryptReasoning(ids: IdMint): string {
  const body = ENCRYPTED_PREFIX + ids.id("", 48);
  return body + checksum(body);
}

function checksum(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, CHECKSUM);
}

/** Content that we did not make cannot be checked. */
function isForged(text: string): boolean {
  return text.startsWith(ENCRYPTED_PREFIX) && checksum(text.slice(0, -CHECKSUM)) !== text.slice(-CHECKSUM);
}

function checkReasoning(item: JsonObject, { param, stored }: Place): Complaint | undefined {
  if (!Array.isArray(item.summary)) return missing(`${param}.summary`);
  const { encrypted_content: encrypted, content, id } = item;
  if (encrypted == null && content == null && !stored) {
    const advice = "Try again with `store` set to true, or remove this item from your input.";
    const message = `Item with id '${asText(id)}' not found. Items are not persisted when \`store\` is set to false. ${advice}`;
    return { kind: "not-found", message, param: "input" };
  }
  if (typeof encrypted !== "string" || !isForged(encrypted)) return undefined;
  const reason = "Reason: Encrypted content could not be decrypted or parsed.";
  const message = `The encrypted content ${encrypted.slice(0, 8)}... could not be verified. ${reason}`;
  return { message, code: "invalid_encrypted_content" };
}

/** Reasoning needs the item that follows it. */
function checkFollowers(items: readonly JsonObject[]): Complaint | undefined {
  for (const [i, item] of items.entries()) {
    if (item.type !== "reasoning") continue;
    const next = items.slice(i + 1).find(({ type }) => type !== "reasoning");
    if (next !== undefined && next.role !== "user" && next.type !== "function_call_output") continue;
    const message = `Item '${asText(item.id)}' of type 'reasoning' was provided without its required following item.`;
    return { message, param: "input" };
  }
  return undefined;
}
