/**
 * Decides which tools the model gets: fixed sets, and sets of one's own that name tools.
 *
 * 1. A fixed set has built-in tools only. Without an own set, the tools of extensions come with any choice.
 * 2. With an own set, only named tools come from outside: programs, plugins and MCP servers bring the tools that a chosen set names.
 * 3. A project chooses among what the user has chosen, and defines no sets.
 */
import { namePattern, type TextPattern } from "../../base/star-pattern.js";
import { UsageError } from "../../base/usage-error.js";
import type { ToolSet } from "../../engine/ports.js";
import { SEARCH_TOOL } from "../../extensions/mcp/search-definition.js";
import { type Layer, originOf, type Setting, type SettingReader } from "../../feature/setting.js";
import { aliasedTool, spelledTool } from "../parts/own-tools.js";

export const TOOL_SETS: readonly ToolSet[] = ["read", "edit", "command", "web", "agents"];
const KEY = "tool_sets";
const FLAG = "tool-set";
/** In `[tool_sets]`: which sets the profile chooses. */
const USE = "use";
const SET_NAME = /^[a-z][\w-]*$/i;
/** In a set: a whole fixed set. */
const WHOLE_SET = /^set:(.*)$/;

type OwnSets = ReadonlyMap<string, readonly string[]>;

export class ToolChoice {
  /** As they were chosen. */
  readonly names: readonly string[];
  /** The fixed sets of which every tool is offered. */
  readonly sets: readonly ToolSet[];
  /** The names of single tools, `*` for any characters; undefined without an own set. */
  readonly named: readonly string[] | undefined;
  readonly #patterns: readonly TextPattern[];

  constructor(names: readonly string[], { sets, named }: Pick<ToolChoice, "sets" | "named">) {
    this.names = names;
    this.sets = TOOL_SETS.filter((set) => sets.includes(set));
    this.named = named;
    this.#patterns = (named ?? []).map(namePattern);
  }

  /** Tells whether the model may get the tool; `set` is the one of a built-in tool. */
  offers(tool: string, set: ToolSet | undefined): boolean {
    if (set === undefined && this.named === undefined) return true;
    return (set !== undefined && this.sets.includes(set)) || this.#patterns.some((pattern) => pattern.test(tool));
  }

  /** The single tools of own sets that are not among these; those of MCP servers come and go, so they do not count. */
  missing(isThere: (tool: string) => boolean): readonly string[] {
    return (this.named ?? []).filter((name) => !/\*|\?|^mcp_/.test(name) && !isThere(name));
  }

  get isEmpty(): boolean {
    return this.sets.length === 0 && this.#patterns.length === 0;
  }
}

export function readToolChoice(from: SettingReader): Setting<ToolChoice> {
  const layers = from.written(KEY, "stricter");
  const own = ownSets(layers, from);
  const all = new ToolChoice(TOOL_SETS, { sets: TOOL_SETS, named: undefined });
  let setting: Setting<ToolChoice> = { value: all, origin: "default" };
  const flags = from.values(FLAG);
  if (flags.length > 0) return { value: choose(flags.join(","), { own, origin: `--${FLAG}` }), origin: `--${FLAG}` };
  for (const layer of layers) {
    const written = chosenIn(layer);
    if (written === undefined) continue;
    const origin = originOf(layer, KEY);
    const value = choose(written, { own, origin });
    if (layer.scope !== "project") setting = { value, origin };
    else if (!isAmong(value, setting.value)) {
      from.refuse(layer, KEY, `a project may only make it stricter than ${setting.origin}`);
    } else {
      // The tools of extensions stay with those that the user named.
      const named = value.named ?? (setting.value.named === undefined ? undefined : []);
      setting = { value: new ToolChoice(value.names, { sets: value.sets, named }), origin };
    }
  }
  return setting;
}

function isAmong(theirs: ToolChoice, { names, named }: ToolChoice): boolean {
  return (
    theirs.names.every((name) => names.includes(name)) || (named === undefined && names.length === TOOL_SETS.length)
  );
}

/** `tool_sets = ["read", "mine"]`, or `use` in the table with the own sets. */
function chosenIn({ profile }: Layer): string | undefined {
  const written = profile[KEY];
  const chosen = isTable(written) ? written[USE] : written;
  if (chosen === undefined) return undefined;
  return Array.isArray(chosen) ? chosen.join(",") : String(chosen);
}

/** The `[tool_sets]` tables of the user; a more local one replaces a set of the same name. */
function ownSets(layers: readonly Layer[], from: SettingReader): OwnSets {
  const own = new Map<string, readonly string[]>();
  for (const layer of layers) {
    const table = layer.profile[KEY];
    if (!isTable(table)) continue;
    for (const [name, tools] of Object.entries(table)) {
      if (name === USE) continue;
      if (layer.scope === "project")
        from.refuse(layer, `${KEY}.${name}`, "only you may define tool sets, not a project");
      else own.set(name, toolsOf(name, tools, originOf(layer, KEY)));
    }
  }
  return own;
}

function toolsOf(name: string, tools: unknown, origin: string): readonly string[] {
  const wrong = (what: string) => new UsageError(`${origin}: ${what}`);
  if ((TOOL_SETS as readonly string[]).includes(name))
    throw wrong(`"${name}" is a built-in tool set: choose another name.`);
  if (!SET_NAME.test(name)) throw wrong(`"${name}" cannot name a tool set: use letters, digits, - and _.`);
  const isList = Array.isArray(tools) && tools.every((tool) => typeof tool === "string" && tool.trim() !== "");
  if (!isList || tools.length === 0)
    throw wrong(`${name}: expected a list of tools, such as ["read", "grep", "my_tool", "mcp__github__*"].`);
  for (const tool of tools as readonly string[]) {
    const set = WHOLE_SET.exec(tool)?.[1];
    if (set !== undefined && !(TOOL_SETS as readonly string[]).includes(set))
      throw wrong(`${name}: there is no tool set "${set}"; there are ${TOOL_SETS.join(", ")}.`);
  }
  return tools as readonly string[];
}

function choose(text: string, { own, origin }: { readonly own: OwnSets; readonly origin: string }): ToolChoice {
  const names = [...new Set(text.split(",").map((name) => name.trim()))];
  const sets: string[] = [];
  let named: string[] | undefined;
  for (const name of names) {
    const tools = own.get(name);
    if (tools === undefined && !(TOOL_SETS as readonly string[]).includes(name)) {
      const known = [...TOOL_SETS, ...own.keys()].join(", ");
      throw new UsageError(
        `${origin}: there is no tool set "${name}"; there are ${known}. [${KEY}] in your settings defines others.`,
      );
    }
    if (tools === undefined) sets.push(name);
    else {
      const isSet = (tool: string) => WHOLE_SET.test(tool);
      sets.push(...tools.filter(isSet).map((tool) => tool.slice("set:".length)));
      named = [...(named ?? []), ...tools.filter((tool) => !isSet(tool)).map(meantTool)];
      // A server with many tools is reached by searching them.
      if (named.some((tool) => /^(\*|mcp__)/.test(tool))) named.push(SEARCH_TOOL);
    }
  }
  const ordered = TOOL_SETS.filter((set) => names.includes(set));
  const chosen = [...ordered, ...names.filter((name) => own.has(name))];
  return new ToolChoice(chosen, { sets: sets as ToolSet[], named });
}

/** A single word may as well be the name of a tool of an extension. */
function meantTool(name: string): string {
  const alias = name.includes("_") ? aliasedTool(name) : undefined;
  return (alias ?? spelledTool(name))?.name ?? name;
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
