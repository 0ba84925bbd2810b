/**
 * Files that list programs to start: each MCP server, and the hooks of each event, is approved on its own.
 *
 * 1. What is approved is the entry's canonical form (JSON with sorted keys), and that form is what the loader gets. It never
 *    parses the file itself, so it cannot understand it differently.
 * 2. An entry that is not recognised here does not exist for the loader.
 */
import { withoutComments } from "../../base/json-comments.js";
import type { ContentKind } from "./content.js";
import { frontMatterHooks } from "./front-matter-hooks.js";
import { isClaudeSettings } from "./places.js";

export interface Entry {
  readonly name: string;
  readonly kind: ContentKind;
  readonly canonical: string;
}

interface Section {
  readonly kind: ContentKind;
  readonly prefix: string;
}

const SERVERS: Section = { kind: "mcp", prefix: "mcp_servers" };

/** Lists which sections start programs, under the names different tools give them. */
const SECTIONS: Readonly<Record<string, Section>> = {
  mcpServers: SERVERS,
  mcp_servers: SERVERS,
  hooks: { kind: "event-hooks", prefix: "hooks" },
};

/** In a file of VS Code they are called just `servers`. */
const OWN_SECTIONS: Readonly<Record<string, Section>> = { ...SECTIONS, servers: SERVERS };

/** A value that is deeper would overflow the stack wherever it is processed. */
const MOST_LEVELS = 100;

/** Undefined when the text is not JSON or TOML, by the file's name, or is nested too deeply. Of a Markdown file, the hooks in its front matter. */
export async function entriesOf(path: string, text: string): Promise<readonly Entry[] | undefined> {
  const document = await parse(path, text);
  if (!isTable(document) || isDeep(document)) return undefined;
  const found = new Map<string, { readonly kind: ContentKind; readonly values: unknown[] }>();
  const take = (section: unknown, { kind, prefix }: Section) => {
    for (const [part, value] of namedParts(section)) {
      const name = `${prefix}.${part}`;
      const known = found.get(name);
      if (known === undefined) found.set(name, { kind, values: [value] });
      else known.values.push(value);
    }
  };
  for (const [section, about] of Object.entries(isServerFile(path) ? OWN_SECTIONS : SECTIONS))
    if (Object.hasOwn(document, section)) take(document[section], about);
  if (isClaudeSettings(path)) take(restrictionsIn(document), { kind: "profile", prefix: "permissions" });
  for (const [project, servers] of serversOfProjects(path, document))
    take(servers, { kind: "mcp", prefix: `${projectPrefix(project)}mcp_servers` });
  // Of two with one name neither may hide behind the other: together they are a list, which no loader takes for a server.
  return [...found].map(([name, { kind, values }]) => {
    return { name, kind, canonical: canonicalJson(values.length === 1 ? values[0] : values) };
  });
}

/** The beginning of the names of entries that count in one folder only. */
function projectPrefix(folder: string): string {
  return `projects.${folder}.`;
}

/** Tells whether an entry counts in this folder. */
export function isForFolder(entry: string, folder: string): boolean {
  return !entry.startsWith("projects.") || entry.startsWith(`${projectPrefix(folder)}mcp_servers.`);
}

function restrictionsIn({ permissions }: Record<string, unknown>): Record<string, unknown> {
  if (!isTable(permissions)) return {};
  const isGiven = ([name, rules]: readonly [string, unknown]) =>
    (name === "ask" || name === "deny") && Array.isArray(rules) && rules.length > 0;
  return Object.fromEntries(Object.entries(permissions).filter(isGiven));
}

function isServerFile(path: string): boolean {
  return /(^|[/\\])mcp\.json$/.test(path);
}

/** Claude Code keeps the servers that the user added for one project in its own file. */
function serversOfProjects(
  path: string,
  { projects }: Record<string, unknown>,
): readonly (readonly [string, unknown])[] {
  if (!/(^|[/\\])\.claude\.json$/.test(path) || !isTable(projects)) return [];
  return Object.entries(projects).flatMap(([folder, value]) =>
    isTable(value) && isTable(value.mcpServers) ? [[folder, value.mcpServers] as const] : [],
  );
}

async function parse(path: string, text: string): Promise<unknown> {
  try {
    if (path.endsWith(".md")) return { hooks: frontMatterHooks(text) };
    const plain = text.replace(/^\uFEFF/, "");
    if (isServerFile(path)) return JSON.parse(withoutComments(plain));
    if (path.endsWith(".json")) return JSON.parse(plain);
    const toml = await import("smol-toml");
    return toml.parse(text);
  } catch {
    return undefined;
  }
}

/** `[mcp_servers.search]`, or `mcp_servers = [{ name = "search", … }]`. */
function namedParts(section: unknown): readonly (readonly [string, unknown])[] {
  if (isTable(section)) return Object.entries(section);
  if (!Array.isArray(section)) return [];
  return section.map((value: unknown, index) => {
    return [isTable(value) && typeof value.name === "string" ? value.name : String(index + 1), value];
  });
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isDeep(value: unknown, level = 0): boolean {
  if (typeof value !== "object" || value === null) return false;
  return level === MOST_LEVELS || Object.values(value).some((each) => isDeep(each, level + 1));
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value === "number" && !Number.isFinite(value)) return JSON.stringify(String(value));
  if (typeof value === "bigint") return String(value);
  if (value instanceof Date || !isTable(value)) return JSON.stringify(value) ?? "null";
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`).join(",")}}`;
}
