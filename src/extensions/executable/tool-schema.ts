/** Parses the output of `--schema`: a tool in the format of the Anthropic API, or of the OpenAI one. */
import { shorten } from "../../base/cap-text.js";
import { MOST_ARGUMENT_LEVELS, nestingOf } from "../../base/json-nesting.js";
import { safeText } from "../../base/terminal-text.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";

export interface ToolTraits {
  readonly concurrencySafe: boolean;
  readonly mutating: boolean;
  /** It uses the network, so Oxbow asks the user. */
  readonly network: boolean;
  readonly timeoutMs?: number;
}

export interface ToolSchema extends ToolTraits {
  readonly description: string;
  readonly inputSchema: JsonObject;
}

const MAX_DESCRIPTION = 4000;
const MAX_TIMEOUT_S = 3600;

/** Throws an error whose message completes the sentence "FILE …". */
export function parseToolSchema(output: string, name: string): ToolSchema {
  const given = parse(output);
  const tool = isJsonObject(given.function) ? { ...given, ...given.function } : given;
  if (typeof tool.name === "string" && tool.name !== name)
    throw new Error(`prints a schema for "${cut(tool.name)}"; the name must be that of the file, "${name}"`);
  const inputSchema = tool.input_schema ?? tool.inputSchema ?? tool.parameters;
  if (!isJsonObject(inputSchema)) throw new Error('prints a schema without an object "input_schema"');
  if ((inputSchema.type ?? "object") !== "object")
    throw new Error('prints an "input_schema" whose type is not "object"');
  const problem = schemaProblem(inputSchema);
  if (problem !== undefined) throw new Error(`prints an "input_schema" in which ${problem}`);
  const { description } = tool;
  // Services refuse schemas with unknown fields.
  const { "x-oxbow": traits, ...plain } = inputSchema;
  if (description !== undefined && typeof description !== "string")
    throw new Error('prints a schema whose "description" is not text');
  return {
    description: safeText(description ?? "").slice(0, MAX_DESCRIPTION),
    inputSchema: { ...plain, type: "object" },
    ...traitsOf(tool["x-oxbow"] ?? traits),
  };
}

function parse(output: string): JsonObject {
  if (output.trim() === "") throw new Error("prints nothing for --schema");
  if (nestingOf(output) > MOST_ARGUMENT_LEVELS) throw new Error("prints a schema that is nested too deep");
  let value: JsonValue;
  try {
    value = JSON.parse(output) as JsonValue;
  } catch {
    throw new Error(`prints no JSON for --schema: ${cut(output.trim())}`);
  }
  if (!isJsonObject(value)) throw new Error("prints a schema that is not a JSON object");
  return value;
}

function schemaProblem({ properties, required }: JsonObject): string | undefined {
  if (properties !== undefined && !isJsonObject(properties)) return '"properties" is not an object';
  for (const [name, property] of Object.entries(properties ?? {}))
    if (!isJsonObject(property) && typeof property !== "boolean") return `the property "${cut(name)}" is not an object`;
  if (required !== undefined && !(Array.isArray(required) && required.every((each) => typeof each === "string")))
    return '"required" is not a list of names';
  return undefined;
}

/** Default: not safe to run concurrently, and makes changes. */
function traitsOf(value: JsonValue | undefined): ToolTraits {
  if (value === undefined) return { concurrencySafe: false, mutating: true, network: false };
  if (!isJsonObject(value)) throw new Error('prints an "x-oxbow" that is not an object');
  for (const key of ["concurrencySafe", "mutating", "network"])
    if (value[key] !== undefined && typeof value[key] !== "boolean")
      throw new Error(`prints an "x-oxbow" in which "${key}" is neither true nor false`);
  const { timeout } = value;
  if (timeout !== undefined && !(typeof timeout === "number" && timeout > 0 && timeout <= MAX_TIMEOUT_S))
    throw new Error(`prints an "x-oxbow" in which "timeout" is not a number of seconds up to ${MAX_TIMEOUT_S}`);
  return {
    concurrencySafe: value.concurrencySafe === true,
    mutating: value.mutating !== false,
    network: value.network === true,
    ...(typeof timeout === "number" && { timeoutMs: timeout * 1000 }),
  };
}

function cut(text: string): string {
  const line = safeText(text).replaceAll("\n", " ");
  return shorten(line, 80);
}
