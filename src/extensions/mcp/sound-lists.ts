/**
 * The lists that a server sends, without entries that break the rules of the protocol. The library would refuse a whole list for one of
 * them, and the server with it.
 *
 * 1. An entry that cannot be used is left out and reported by its name; the others stay.
 * 2. A member that nothing uses, or that only decorates, is left out when it is wrong. Null counts as absent.
 * 3. A tool without a schema takes no arguments; a schema without a type is one of an object.
 */
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { safeLine } from "../../base/terminal-text.js";
import { changeIncoming } from "./incoming-messages.js";
import { headerFault } from "./schema-headers.js";

export interface SoundListsOptions {
  /** Ends the sentence "The MCP server 'NAME' …". */
  readonly onProblem: (problem: string) => void;
  /** Of the protocol, once it is agreed on. */
  readonly revision: () => Revision;
}

export interface Revision {
  readonly era: "modern" | "legacy";
  /** Says whether arguments can be sent as headers too. */
  readonly hasHeaders: boolean;
}

type Entry = Readonly<Record<string, unknown>>;
/** Throws an error whose message ends the sentence "… which is left out: its …". */
type Sound = (entry: Entry) => Entry;

interface ListKind {
  readonly member: string;
  readonly noun: string;
  readonly sound: Sound;
}

const MOST_NAME = 80;

export function keepSoundEntries(transport: Transport, { onProblem, revision }: SoundListsOptions): void {
  const kinds: ReadonlyMap<string, ListKind> = new Map([
    ["tools/list", { member: "tools", noun: "tool", sound: (entry) => soundTool(entry, revision()) }],
    ["prompts/list", { member: "prompts", noun: "prompt", sound: soundPrompt }],
    ["resources/list", { member: "resources", noun: "resource", sound: soundResource }],
  ]);
  const asked = new Map<unknown, ListKind>();
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    const { id, method } = message as { id?: unknown; method?: string };
    const kind = method === undefined ? undefined : kinds.get(method);
    if (kind !== undefined && id !== undefined) asked.set(id, kind);
    return send(message, options);
  };
  changeIncoming(transport, (message) => {
    const { id, result } = message as { id?: unknown; result?: Entry };
    const kind = asked.get(id);
    if (kind === undefined) return message;
    asked.delete(id);
    const list = isEntry(result) ? result[kind.member] : undefined;
    if (!Array.isArray(list)) return message;
    const { entries, problems } = soundEntries(list, kind);
    for (const problem of few(problems)) onProblem(problem);
    return { ...message, result: { ...result, [kind.member]: entries } } as JSONRPCMessage;
  });
}

function soundEntries(list: readonly unknown[], { noun, sound }: ListKind) {
  const problems: string[] = [];
  const entries = list.flatMap((entry) => {
    const name = isEntry(entry) ? (entry.name ?? entry.uri) : undefined;
    if (!isEntry(entry) || typeof name !== "string" || name === "") {
      problems.push(`lists a ${noun} without a usable name`);
      return [];
    }
    try {
      return [sound({ ...entry, name })];
    } catch (error) {
      const shown = safeLine(name.slice(0, MOST_NAME));
      problems.push(`lists the ${noun} '${shown}', which is left out: its ${(error as Error).message}`);
      return [];
    }
  });
  return { entries, problems };
}

const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

function soundTool(entry: Entry, { era, hasHeaders }: Revision): Entry {
  const { name, inputSchema = { type: "object" }, annotations, execution } = entry;
  const outputSchema = entry.outputSchema ?? undefined;
  const schema = soundSchema(inputSchema, "schema");
  const fault = hasHeaders ? headerFault(schema) : undefined;
  if (fault !== undefined) throw new Error(`schema ${fault}`);
  const taskSupport = isEntry(execution) ? execution.taskSupport : undefined;
  return {
    ...{ name, inputSchema: schema },
    ...(outputSchema !== undefined && { outputSchema: soundOutput(outputSchema, era) }),
    ...picked(entry, ["title", "description"], "string"),
    ...(isEntry(annotations) && {
      annotations: { ...picked(annotations, ["title"], "string"), ...picked(annotations, HINTS, "boolean") },
    }),
    ...(["required", "optional", "forbidden"].includes(taskSupport as string) && { execution: { taskSupport } }),
    ...(isEntry(entry._meta) && { _meta: entry._meta }),
  };
}

/** As the library wants it on the outside. What is within is checked later, or never used. */
function soundSchema(given: unknown, noun: string): Entry {
  if (!isEntry(given)) throw new Error(`${noun} is not an object`);
  const { type = "object", $schema, properties, required } = given;
  if (type !== "object") throw new Error(`${noun} has a type other than "object"`);
  if ($schema !== undefined && typeof $schema !== "string") throw new Error(`${noun} has a "$schema" that is not text`);
  if (properties !== undefined && !isEntry(properties))
    throw new Error(`${noun} has "properties" that are not an object`);
  if (required !== undefined && !(Array.isArray(required) && required.every((each) => typeof each === "string")))
    throw new Error(`${noun} has a "required" that is not a list of names`);
  return { ...given, type };
}

/** Results may be of any type since the revision 2026-07-28. */
function soundOutput(given: unknown, era: Revision["era"]): Entry {
  if (era === "legacy") return soundSchema(given, "output schema");
  if (!isEntry(given)) throw new Error("output schema is not an object");
  const { $schema, ...rest } = given;
  return typeof $schema === "string" ? given : rest;
}

function soundPrompt(entry: Entry): Entry {
  const given = entry.arguments ?? undefined;
  if (given !== undefined && !Array.isArray(given)) throw new Error("arguments are not a list");
  const list = given?.map((each: unknown) => {
    if (!isEntry(each) || typeof each.name !== "string") throw new Error("arguments include one without a name");
    return {
      name: each.name,
      ...picked(each, ["title", "description"], "string"),
      ...picked(each, ["required"], "boolean"),
    };
  });
  return {
    name: entry.name,
    ...picked(entry, ["title", "description"], "string"),
    ...(list !== undefined && { arguments: list }),
  };
}

function soundResource(entry: Entry): Entry {
  const { name, uri } = entry;
  if (typeof uri !== "string" || uri === "") throw new Error("address is not text");
  return {
    name,
    uri,
    ...picked(entry, ["title", "description", "mimeType"], "string"),
    ...picked(entry, ["size"], "number"),
  };
}

function picked(entry: Entry, members: readonly string[], type: "string" | "boolean" | "number"): Entry {
  return Object.fromEntries(
    members
      .filter((member) => Object.hasOwn(entry, member) && typeof entry[member] === type)
      .map((member) => [member, entry[member]]),
  );
}

function isEntry(value: unknown): value is Entry {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const MOST_PROBLEMS = 5;

/** Names the first ones, and how many more there are: a server may have thousands. Each ends the sentence "The MCP server 'NAME' …". */
export function few(problems: readonly string[]): readonly string[] {
  if (problems.length <= MOST_PROBLEMS) return problems;
  return [...problems.slice(0, MOST_PROBLEMS), `has ${problems.length - MOST_PROBLEMS} more problems like these`];
}
