/**
 * Reads a tool call as it was meant. Models know tools, parameters and formats of other harnesses; each tool declares those that mean the
 * same (`Tool.habits`). All calls are read here, before hooks, permissions, the ledger and displays see them.
 *
 * 1. A name and an argument of a tool itself always win over an alias.
 * 2. No argument is dropped without a word. What a tool does not know is refused by name if the tool can change something; otherwise the
 *    result says that it was not used.
 * 3. The arguments of a tool of an extension keep their names; only a value of the wrong type is converted.
 */
import { fitValue } from "../base/fit-json.js";
import { MOST_ARGUMENT_LEVELS, nestingOf } from "../base/json-nesting.js";
import { schemaProblems } from "../base/json-schema.js";
import { plainToolName } from "../base/tool-name.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.js";
import type { Tool, ToolRegistry } from "./ports.js";

export interface ReadCall {
  /** The tool's own name; as sent if there is no such tool. */
  readonly tool: string;
  readonly args: JsonObject;
  /** A sentence each, for the result. */
  readonly notes: readonly string[];
  /** The reason why the call does not run. */
  readonly refused?: string;
}

/** A tool that hands a call to another one, which hands it on, is a mistake in the tables. */
const MOST_TOOLS = 3;

export function readCall(registry: ToolRegistry, sent: { readonly tool: string; readonly args: JsonObject }): ReadCall {
  const found = findTool(registry, sent.tool);
  if (found === undefined) return { ...sent, notes: [], refused: unknownTool(registry, sent.tool) };
  let { tool, called } = found;
  let { args } = sent;
  const notes: string[] = [];
  for (let seen = 0; seen < MOST_TOOLS; seen++) {
    const reading = readArguments(tool, args, called);
    notes.push(...reading.notes);
    if (reading.next === undefined) {
      const { refused } = reading;
      return { tool: tool.name, args: reading.args, notes, ...(refused !== undefined && { refused }) };
    }
    const next = registry.find(reading.next);
    if (next === undefined) {
      const refused = `"${sent.tool}" is the tool ${reading.next} here, and this session does not have it. ${namesOf(registry)}`;
      return { tool: reading.next, args: reading.args, notes, refused };
    }
    tool = next;
    called = plainToolName(next.name);
    args = reading.args;
  }
  throw new Error(`the habits of ${tool.name} never end`);
}

/** The tool that a name means: its own name, else an alias in any spelling. */
function findTool(registry: ToolRegistry, name: string): { readonly tool: Tool; readonly called: string } | undefined {
  const own = registry.find(name);
  if (own !== undefined) return { tool: own, called: plainToolName(name) };
  const called = plainToolName(withoutPrefix(name));
  const tools = registry.list();
  const tool =
    tools.find((each) => plainToolName(each.name) === called) ??
    tools.find((each) => each.habits?.names?.some((alias) => plainToolName(alias) === called));
  if (tool !== undefined) return { tool, called };
  const near = registry.lacks?.(called) === undefined ? nearestName(tools, name) : undefined;
  // The same words in another order: `shell_run` is `run_shell`.
  if (near === undefined || inOrder(near.alias) !== inOrder(withoutPrefix(name))) return undefined;
  return { tool: near.tool, called: plainToolName(near.alias) };
}

/** A likeness below this is chance. */
const LIKE = 0.5;

/** The tool with a name that has the most words in common with this one; undefined if two tools are equally near. */
function nearestName(tools: readonly Tool[], name: string) {
  const sought = new Set(wordsOf(withoutPrefix(name)));
  if (sought.size === 0 || sought.has("mcp")) return undefined;
  const found = tools.flatMap((tool) => {
    if (tool.extension !== undefined) return [];
    const [first] = [tool.name, ...(tool.habits?.names ?? [])]
      .map((alias) => ({ tool, alias, likeness: likeness(sought, new Set(wordsOf(alias))) }))
      .sort((one, other) => other.likeness - one.likeness);
    return first === undefined || first.likeness < LIKE ? [] : [first];
  });
  const [best, next] = found.sort((one, other) => other.likeness - one.likeness);
  return best?.likeness === next?.likeness ? undefined : best;
}

function wordsOf(name: string): readonly string[] {
  const apart = name.replaceAll(/([a-z\d])([A-Z])/g, "$1 $2").toLowerCase();
  return apart.split(/[^a-z\d]+/).filter((word) => word !== "");
}

function inOrder(name: string): string {
  return wordsOf(name).toSorted().join(" ");
}

/** The part of all their words that both have. */
function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const both = [...one].filter((word) => other.has(word)).length;
  return both / (one.size + other.size - both);
}

/** Tells what comes before a name, and what servers leave behind it: `functions.read:0`, `read<|channel|>json`, `bash()`. */
function withoutPrefix(name: string): string {
  const bare = name
    .trim()
    .replace(/^<(?:function|tool)=([^>]*)>?$/, "$1")
    .replace(/(?:<\|.*|:\d+|\(\s*\)|_20\d{6})$/s, "");
  const [, server, remote] = /^mcp__(.+?)__(.+)$/s.exec(bare) ?? [];
  if (server !== undefined) return OWN_SERVERS.has(plainToolName(server)) ? (remote ?? bare) : bare;
  return bare
    .replace(/^(?:functions?|tools?|default_api|default_tools|namespace|container|repo_browser|oxbow)[.:/]+/i, "")
    .replace(/^(?:developer|filesystem|fs|desktop_commander|acp)(?:__|[.:/]+)/i, "");
}

/** Servers whose tools are those of every harness. The tools of other servers have a meaning of their own. */
const OWN_SERVERS: ReadonlySet<string> = new Set(
  "acp bash builtin claude claudecode codex desktopcommander developer editor file files filesystem fs oxbow shell terminal".split(
    " ",
  ),
);

/** Says what to use instead of a tool that is not there. */
export function unknownTool(registry: ToolRegistry, name: string): string {
  const advice = registry.lacks?.(plainToolName(withoutPrefix(name)));
  const near = advice === undefined ? nearestName(registry.list(), name)?.tool.name : undefined;
  return advice === undefined
    ? `There is no tool "${name}".${near === undefined ? "" : ` Did you mean ${near}?`} ${namesOf(registry)}`
    : `There is no tool "${name}" here; nothing was run. ${advice}`;
}

function namesOf(registry: ToolRegistry): string {
  return `Available: ${
    registry
      .list()
      .map(({ name }) => name)
      .join(", ") || "none"
  }.`;
}

interface ReadArguments {
  readonly args: JsonObject;
  readonly notes: readonly string[];
  readonly refused?: string;
  /** The tool that the call is for. */
  readonly next?: string;
}

function readArguments(tool: Tool, sent: JsonObject, called: string): ReadArguments {
  if (tool.extension !== undefined || tool.habits === undefined) return { args: fitted(tool, sent), notes: [] };
  const reading = new Reading(tool);
  const named = reading.rename(unwrapped(tool, sent), "");
  const converted = tool.habits.convert?.(named, called) ?? { args: named };
  if ("refused" in converted) return { args: sent, notes: [], refused: reading.asSent(converted.refused) };
  const { args, notes = [], tool: next } = converted;
  if (next !== undefined && next !== tool.name) return { args, notes, next };
  const read = reading.object(tool.inputSchema, args, "");
  const refused = reading.refusal(read);
  if (refused !== undefined) return { args: sent, notes: [], refused };
  return { args: read, notes: [...notes, ...reading.notes()] };
}

/** Only what does not fit the schema is converted, and only if it fits then. */
function fitted(tool: Tool, sent: JsonObject): JsonObject {
  if (schemaProblems(tool.inputSchema, sent).length === 0) return sent;
  const read = new Reading(tool).object(tool.inputSchema, sent, "");
  return schemaProblems(tool.inputSchema, read).length === 0 ? read : sent;
}

const WRAPPERS = "arguments args parameters params input kwargs tool_input toolinput action operation".split(" ");
/** Holds what stands beside them: the call itself, once more. */
const BESIDE = "name tool tool_name toolname function type id".split(" ");

/** `{"arguments": {…}}`: the arguments inside themselves. */
function unwrapped(tool: Tool, sent: JsonObject): JsonObject {
  const [key, ...others] = Object.keys(sent).filter((name) => !BESIDE.includes(name.toLowerCase()));
  if (key === undefined || others.length > 0 || !WRAPPERS.includes(key.toLowerCase())) return sent;
  if (Object.keys(sent).some((name) => Object.hasOwn(propertiesOf(tool.inputSchema), name))) return sent;
  const inner = fitValue({ type: "object" }, sent[key] ?? null);
  return isJsonObject(inner) && nestingOf(JSON.stringify(inner)) <= MOST_ARGUMENT_LEVELS ? inner : sent;
}

class Reading {
  readonly #tool: Tool;
  /** The names that the model used, by the name that the tool reads. */
  readonly #sent = new Map<string, string>();
  readonly #unknown: string[] = [];
  readonly #unused: string[] = [];
  #conflict: string | undefined;

  constructor(tool: Tool) {
    this.#tool = tool;
  }

  /** Gives the arguments our names; those without one get their plain name. */
  rename(value: JsonObject, path: string): JsonObject {
    const own = this.#own(schemaAt(this.#tool.inputSchema, path), path);
    const out: Record<string, JsonValue> = {};
    for (const [key, given] of Object.entries(value)) {
      if (given === undefined || given === null) continue;
      const name = this.#nameOf(key, path, own);
      const at = inside(path, name);
      const before = out[name];
      if (before !== undefined && JSON.stringify(before) !== JSON.stringify(given)) {
        this.#conflict ??= `"${this.#sent.get(at)}" and "${key}" are the same parameter with two values; send one of them`;
      }
      if (before === undefined || key === name) out[name] = given;
      this.#sent.set(at, key);
    }
    return out;
  }

  #nameOf(key: string, path: string, own: Readonly<Record<string, unknown>>): string {
    if (Object.hasOwn(own, key)) return key;
    const plain = plainParameter(key);
    const known = Object.keys(own).find((name) => plainParameter(name) === plain);
    if (known !== undefined) return known;
    const aliases = Object.entries(this.#tool.habits?.parameters ?? {});
    for (const [place, names] of aliases) {
      const name = nameIn(place, path);
      if (name !== undefined && names.some((each) => plainParameter(each) === plain)) return name;
    }
    return plain;
  }

  /** Fits the values of an object to its schema; what the schema does not have is unused or unknown. */
  object(schema: JsonObject, value: JsonObject, path: string): JsonObject {
    const own = this.#own(schema, path);
    const isClosed = this.#tool.habits !== undefined && Object.keys(own).length > 0;
    const out: Record<string, JsonValue> = {};
    for (const [name, given] of Object.entries(value)) {
      if (given === undefined) continue;
      const property = Object.hasOwn(own, name) ? own[name] : undefined;
      if (isJsonObject(property)) {
        const fit = this.#value(property, given, inside(path, name));
        if (fit !== undefined) out[name] = fit;
      } else if (!isClosed || property !== undefined) out[name] = given;
      else if (!isEmpty(given)) this.#leave(inside(path, name));
    }
    return out;
  }

  #own(schema: JsonObject, path: string): JsonObject {
    const also = Object.entries(this.#tool.habits?.also ?? {}).flatMap(([place, property]) => {
      const name = nameIn(place, path);
      return name === undefined ? [] : [[name, property] as const];
    });
    return { ...propertiesOf(schema), ...Object.fromEntries(also) };
  }

  #value(schema: JsonObject, given: JsonValue, path: string): JsonValue | undefined {
    const values = this.#tool.habits?.values?.[path];
    const word = typeof given === "string" ? values?.[given.toLowerCase()] : undefined;
    const value = fitValue(schema, word ?? given);
    if (Array.isArray(value)) {
      const { items } = schema;
      return isJsonObject(items) ? value.map((item) => this.#value(items, item, path) ?? item) : value;
    }
    if (!isJsonObject(value) || !isJsonObject(schema.properties)) return value;
    const named = this.#tool.habits === undefined ? value : this.rename(value, path);
    return this.object(schema, named, path);
  }

  #leave(at: string): void {
    const note = this.#tool.habits?.unused?.[at];
    const sent = this.#sent.get(at) ?? at;
    if (note === undefined) {
      if (!this.#unknown.includes(sent)) this.#unknown.push(sent);
    } else if (note !== "") this.#unused.push(`${sent}: ${note}`);
  }

  /** A text about the call, with the names that the model used. */
  asSent(text: string): string {
    return text.replaceAll(/`([^`]+)`/g, (whole, name: string) => {
      const sent = this.#sent.get(name);
      return sent === undefined ? whole : `\`${sent}\``;
    });
  }

  refusal(read: JsonObject): string | undefined {
    const { name, mutating, onlyReads, inputSchema } = this.#tool;
    if (this.#conflict !== undefined) return `${name}: ${this.#conflict}; nothing was run.`;
    if (this.#unknown.length === 0) return undefined;
    const missing = listOf(inputSchema.required).filter((each) => read[each] === undefined);
    const known = Object.keys(propertiesOf(inputSchema)).join(", ");
    if (missing.length > 0) {
      const sent = this.#unknown.map((each) => `"${each}"`).join(", ");
      const names = missing.map((each) => `"${each}"`).join(" and ");
      return `${names} ${missing.length > 1 ? "are" : "is"} missing; you sent ${sent}. ${name} takes ${known}; nothing was run.`;
    }
    if (!mutating || onlyReads?.(read) === true) return undefined;
    return `${name} does not know ${this.#unknown.map((each) => `\`${each}\``).join(", ")}; it takes ${known}; nothing was run.`;
  }

  notes(): readonly string[] {
    const unknown = this.#unknown.map((each) => `${this.#tool.name} does not know \`${each}\`; it was not used.`);
    return [...this.#unused, ...unknown];
  }
}

/** Asks for nothing. */
function isEmpty(value: JsonValue): boolean {
  if (typeof value !== "object" || value === null) return value === "";
  return Object.keys(value).length === 0;
}

/** A leading `-` stays: `-A` of grep is not `a`. */
function plainParameter(name: string): string {
  return name
    .toLowerCase()
    .replace(/^--/, "")
    .replaceAll(/(?!^)[-_.\s]|^_+/g, "");
}

function inside(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

/** The name that a place in the table gives to a parameter below the path. */
function nameIn(place: string, path: string): string | undefined {
  const dot = place.lastIndexOf(".");
  return place.slice(0, Math.max(0, dot)) === path ? place.slice(dot + 1) : undefined;
}

function schemaAt(schema: JsonObject, path: string): JsonObject {
  if (path === "") return schema;
  let at = schema;
  for (const name of path.split(".")) {
    const property = propertiesOf(at)[name];
    if (!isJsonObject(property)) return {};
    at = isJsonObject(property.items) ? property.items : property;
  }
  return at;
}

function propertiesOf({ properties }: JsonObject): JsonObject {
  return isJsonObject(properties) ? properties : {};
}

function listOf(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
}
