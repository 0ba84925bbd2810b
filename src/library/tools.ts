/**
 * Tools of the embedding program, as plain objects.
 *
 * 1. Name and schema of a tool are copied at construction: the model sees the same tools in every request.
 * 2. A tool gets a copy of its input, so that it cannot change the conversation.
 */
import type { Tool, ToolRegistry } from "../engine/ports.js";
import { text } from "../protocol/content.js";
import { isJsonObject, type JsonObject } from "../protocol/json.js";
import { invalid } from "./errors.js";

export interface ToolRunContext {
  /** Fires when the prompt is cancelled. The harness waits five seconds for the tool to stop. */
  readonly signal: AbortSignal;
}

export interface HarnessTool {
  /** Letters, digits, `_` and `-`; at most 64. */
  readonly name: string;
  /** For the model: what it does and when to use it. */
  readonly description: string;
  /** JSON Schema of an object. Input that does not fit is answered with an error and `execute` is not called. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** It returns only this program's own text. Otherwise requests mark its results as text from outside. */
  readonly ownResults?: boolean | undefined;
  /** Runs the tool. Its return value is for the model; what it throws becomes an error result for the model. */
  execute(input: JsonObject, context: ToolRunContext): string | Promise<string>;
}

/** The strictest rule of all providers. */
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

export function readTools(tools: readonly HarnessTool[], onRun: (name: string) => void): ToolRegistry {
  if (!Array.isArray(tools)) throw invalid("the tools must be an array; it may be empty.");
  const byName = new Map<string, Tool>();
  for (const tool of tools as readonly HarnessTool[]) {
    const own = readTool(tool, onRun);
    if (byName.has(own.name)) throw invalid(`there are two tools named "${own.name}".`);
    byName.set(own.name, own);
  }
  const list = [...byName.values()];
  return { list: () => list, find: (name) => byName.get(name) };
}

function readTool(tool: HarnessTool, onRun: (name: string) => void): Tool {
  const { name, description } = tool;
  if (typeof name !== "string" || !NAME.test(name)) {
    throw invalid(`a tool's name must be 1 to 64 letters, digits, "_" or "-", got ${JSON.stringify(name)}.`);
  }
  if (typeof description !== "string") throw invalid(`the tool "${name}" needs a description.`);
  if (typeof tool.execute !== "function")
    throw invalid(`the tool "${name}" needs a function execute(input, { signal }).`);
  return {
    name,
    description,
    inputSchema: readSchema(name, tool.inputSchema),
    set: "command",
    concurrencySafe: false,
    mutating: true,
    ownResults: tool.ownResults === true,
    async run(args, { signal }) {
      onRun(name);
      return { status: "ok", content: [text(await execute(tool, structuredClone(args), { name, signal }))] };
    },
  };
}

function readSchema(name: string, schema: Readonly<Record<string, unknown>>): JsonObject {
  const copy: unknown = isJsonObject(schema) ? JSON.parse(JSON.stringify(schema)) : undefined;
  if (isJsonObject(copy) && copy.type === "object") return copy;
  throw invalid(`the tool "${name}" needs an inputSchema: JSON Schema with { type: "object" }.`);
}

async function execute(
  tool: HarnessTool,
  input: JsonObject,
  { name, signal }: { readonly name: string; readonly signal: AbortSignal },
): Promise<string> {
  let result: unknown;
  try {
    result = await tool.execute(input, { signal });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // Providers refuse an error without a text.
    throw message.trim() === "" ? new Error(`${name} failed without a message.`) : error;
  }
  if (typeof result === "string") return result;
  throw new Error(
    `${name} did not return a string but ${result === null ? "null" : `a value of type ${typeof result}`}.`,
  );
}
