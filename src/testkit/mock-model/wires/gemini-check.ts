/** Describes what Gemini refuses, in its own words. As there, only the first error is reported. */
import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json.js";
import { asList, asText } from "./wire.js";

export function checkGenerateRequest(body: JsonObject, model: string): string | undefined {
  return (
    unknownField(body, { known: REQUEST_FIELDS, where: "" }) ??
    checkTools(asList(body.tools)) ??
    checkContents(asList(body.contents)) ??
    checkCalls(asList(body.contents).filter(isJsonObject), model)
  );
}

/** A field may be written as in JSON or as in Protocol Buffers. */
function unknownField(
  value: JsonObject,
  { known, where }: { readonly known: ReadonlySet<string>; readonly where: string },
): string | undefined {
  const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const strange = Object.keys(value).find((name) => !known.has(camel(name)));
  if (strange === undefined) return undefined;
  const place = where === "" ? "" : ` at '${where}'`;
  return `Invalid JSON payload received. Unknown name "${strange}"${place}: Cannot find field.`;
}

const REQUEST_FIELDS = new Set([
  "model",
  "contents",
  "systemInstruction",
  "tools",
  "toolConfig",
  "safetySettings",
  "generationConfig",
  "cachedContent",
  "serviceTier",
  "store",
]);

/* ---- tools ---- */

const SCHEMA_FIELDS = new Set([
  "type",
  "format",
  "title",
  "description",
  "nullable",
  "enum",
  "maxItems",
  "minItems",
  "properties",
  "required",
  "minProperties",
  "maxProperties",
  "minLength",
  "maxLength",
  "pattern",
  "example",
  "anyOf",
  "propertyOrdering",
  "default",
  "items",
  "minimum",
  "maximum",
]);

function checkTools(tools: readonly JsonValue[]): string | undefined {
  const names = new Set<string>();
  for (const [i, tool] of tools.filter(isJsonObject).entries()) {
    const declared = asList(tool.functionDeclarations ?? tool.function_declarations).filter(isJsonObject);
    for (const [j, declaration] of declared.entries()) {
      const where = `tools[${i}].function_declarations[${j}]`;
      const name = asText(declaration.name);
      if (!/^[a-zA-Z_][\w.:-]{0,127}$/.test(name)) {
        return `* GenerateContentRequest.${where}.name: Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.`;
      }
      if (names.has(name)) return `Duplicate function declaration found: ${name}`;
      names.add(name);
      const { parameters } = declaration;
      const problem = isJsonObject(parameters) ? checkSchema(parameters, `${where}.parameters`) : undefined;
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

function checkSchema(schema: JsonObject, where: string): string | undefined {
  const unknown = unknownField(schema, { known: SCHEMA_FIELDS, where });
  if (unknown !== undefined) return unknown;
  if (Array.isArray(schema.type)) return `Proto field is not repeating, cannot start list. at '${where}.type'`;
  const type = asText(schema.type).toUpperCase();
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const problem =
    checkValues(schema, { type, where }) ??
    firstOf(Object.entries(properties), ([name, value]) => inner(value, `${where}.properties[${name}]`)) ??
    firstOf(asList(schema.anyOf).entries(), ([i, value]) => inner(value, `${where}.any_of[${i}]`)) ??
    (schema.items === undefined ? undefined : inner(schema.items, `${where}.items`));
  if (problem !== undefined) return problem;
  if (type === "ARRAY" && schema.items === undefined) return `* GenerateContentRequest.${where}.items: missing field.`;
  const undefinedName = asList(schema.required).find((name) => !Object.hasOwn(properties, asText(name)));
  if (undefinedName === undefined) return undefined;
  return `* GenerateContentRequest.${where}.required[0]: property is not defined`;
}

function inner(value: JsonValue | undefined, where: string): string | undefined {
  return isJsonObject(value) ? checkSchema(value, where) : `Invalid value at '${where}'`;
}

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  STRING: ["enum", "date-time"],
  NUMBER: ["float", "double"],
  INTEGER: ["int32", "int64"],
};

function checkValues(schema: JsonObject, { type, where }: { type: string; where: string }): string | undefined {
  const values = asList(schema.enum);
  if (values.some((value) => typeof value !== "string")) {
    return `Invalid value at '${where}.enum[0]' (TYPE_STRING), ${JSON.stringify(values[0])}`;
  }
  if (values.length > 0 && type !== "STRING")
    return `* GenerateContentRequest.${where}.enum: only allowed for STRING type`;
  if (values.includes("")) return `* GenerateContentRequest.${where}.enum[0]: cannot be empty`;
  const format = asText(schema.format);
  if (format === "" || FORMATS[type]?.includes(format)) return undefined;
  return `* GenerateContentRequest.${where}.format: only 'enum' and 'date-time' are supported for STRING type`;
}

function firstOf<T>(items: Iterable<T>, check: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const problem = check(item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/* ---- contents ---- */

const PART_DATA = [
  "text",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "executableCode",
  "codeExecutionResult",
  "toolCall",
  "toolResponse",
];
const PART_FIELDS = new Set([
  ...PART_DATA,
  "thought",
  "thoughtSignature",
  "videoMetadata",
  "mediaResolution",
  "partMetadata",
]);

function checkContents(contents: readonly JsonValue[]): string | undefined {
  if (contents.length === 0) return "* GenerateContentRequest.contents: contents is not specified";
  for (const [i, content] of contents.entries()) {
    const where = `contents[${i}]`;
    if (!isJsonObject(content)) return `Invalid value at '${where}'`;
    if (content.role !== undefined && content.role !== "user" && content.role !== "model") {
      return "Please use a valid role: user, model.";
    }
    const parts = asList(content.parts);
    if (parts.length === 0) return `* GenerateContentRequest.${where}.parts: contents.parts must not be empty.`;
    const problem = firstOf(parts.entries(), ([j, part]) => checkPart(part, `${where}.parts[${j}]`));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function checkPart(part: JsonValue, where: string): string | undefined {
  if (!isJsonObject(part)) return `Invalid value at '${where}'`;
  const unknown = unknownField(part, { known: PART_FIELDS, where });
  if (unknown !== undefined) return unknown;
  if (!PART_DATA.some((name) => part[name] !== undefined)) {
    return `* GenerateContentRequest.${where}.data: required oneof field 'data' must have one initialized field`;
  }
  const { functionCall: call, functionResponse: answer } = part;
  if (isJsonObject(call) && call.args !== undefined && !isJsonObject(call.args)) {
    return `Invalid value at '${where}.function_call.args' (type.googleapis.com/google.protobuf.Struct), ${JSON.stringify(call.args)}`;
  }
  if (isJsonObject(answer) && !isJsonObject(answer.response)) {
    return `Invalid value at '${where}.function_response.response' (type.googleapis.com/google.protobuf.Struct), ${JSON.stringify(answer.response ?? null)}`;
  }
  return undefined;
}

/* ---- calls, their results and their signatures ---- */

function checkCalls(contents: readonly JsonObject[], model: string): string | undefined {
  const parts = contents.map((content) => asList(content.parts).filter(isJsonObject));
  for (const [i, here] of parts.entries()) {
    const calls = here.filter((part) => isJsonObject(part.functionCall));
    const results = here.filter((part) => isJsonObject(part.functionResponse));
    const asked = (parts[i - 1] ?? []).filter((part) => isJsonObject(part.functionCall));
    if (calls.length > 0 && (i === 0 || contents[i - 1]?.role === "model")) {
      return "Please ensure that function call turn comes immediately after a user turn or after a function response turn.";
    }
    if (results.length > 0 && asked.length === 0) {
      return "Please ensure that function response turn comes immediately after a function call turn.";
    }
    if (asked.length > 0 && results.length !== asked.length) {
      return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
    }
    const problem = checkSignatures(calls, { strict: isStrict(model) && isCurrent(parts, i), index: i });
    if (problem !== undefined) return problem;
  }
  const open = (parts.at(-1) ?? []).some((part) => isJsonObject(part.functionCall));
  return open ? "Please ensure that single turn requests end with a user role or the role field is empty." : undefined;
}

/** Tells whether only function results followed since, and no user message. */
function isCurrent(parts: readonly (readonly JsonObject[])[], index: number): boolean {
  return parts
    .slice(index + 1)
    .every((later, i) => i % 2 === 1 || later.some((part) => isJsonObject(part.functionResponse)));
}

function isStrict(model: string): boolean {
  return /^gemini-([3-9]|[1-9]\d)/.test(model);
}

const SIGNATURE_PREFIX = Buffer.from("mock-thought:").toString("base64").replace(/=+$/, "");
const NOT_CHECKED = ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

/** Signs the call, so that a signature on another part is detected. */
export function signPart(part: JsonObject): string {
  const call = isJsonObject(part.functionCall) ? [part.functionCall.name, part.functionCall.args ?? {}] : [];
  return SIGNATURE_PREFIX + createHash("sha256").update(JSON.stringify(call)).digest("base64");
}

function checkSignatures(
  calls: readonly JsonObject[],
  { strict, index }: { readonly strict: boolean; readonly index: number },
): string | undefined {
  const [first] = calls;
  if (strict && first !== undefined && asText(first.thoughtSignature) === "") {
    const { name } = first.functionCall as JsonObject;
    return `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${asText(name)}\` , position ${index + 1}.`;
  }
  const forged = calls.some((part) => {
    const signature = asText(part.thoughtSignature);
    const isOurs = signature.startsWith(SIGNATURE_PREFIX) && !NOT_CHECKED.includes(signature);
    return isOurs && signature !== signPart(part);
  });
  return forged ? "Thought signature is not valid" : undefined;
}
