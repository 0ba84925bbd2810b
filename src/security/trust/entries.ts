/**
 * Files that list programs to start: each MCP server, and the hooks of each event, is approved on its own.
 *
 * 1. What is approved is the entry's canonical form (JSON with sorted keys), and that form is what the loader gets. It never
 *    parses the file itself, so it cannot understand it differently.
 * 2. An entry that is not recognised here does not exist for the loader.
 */
import type { ContentKind } from "./content.js";

export interface Entry {
  readonly name: string;
  readonly kind: ContentKind;
  readonly canonical: string;
}

/** Which sections start programs, under the names different tools give them. */
const SECTIONS: Readonly<Record<string, { readonly kind: ContentKind; readonly prefix: string }>> = {
  mcpServers: { kind: "mcp", prefix: "mcp_servers" },
  mcp_servers: { kind: "mcp", prefix: "mcp_servers" },
  hooks: { kind: "event-hooks", prefix: "hooks" },
};

/** Undefined when the text is not JSON or TOML, by the file's name. */
export async function entriesOf(path: string, text: string): Promise<readonly Entry[] | undefined> {
  const document = await parse(path, text);
  if (!isTable(document)) return undefined;
  const found = new Map<string, { readonly kind: ContentKind; readonly values: unknown[] }>();
  for (const [section, { kind, prefix }] of Object.entries(SECTIONS)) {
    if (!Object.hasOwn(document, section)) continue;
    for (const [part, value] of namedParts(document[section])) {
      const name = `${prefix}.${part}`;
      const known = found.get(name);
      if (known === undefined) found.set(name, { kind, values: [value] });
      else known.values.push(value);
    }
  }
  // Of two with one name neither may hide behind the other: together they are a list, which no loader takes for a server.
  return [...found].map(([name, { kind, values }]) => {
    return { name, kind, canonical: canonicalJson(values.length === 1 ? values[0] : values) };
  });
}

async function parse(path: string, text: string): Promise<unknown> {
  try {
    if (path.endsWith(".json")) return JSON.parse(text.replace(/^\uFEFF/, ""));
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

export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value === "number" && !Number.isFinite(value)) return JSON.stringify(String(value));
  if (typeof value === "bigint") return String(value);
  if (value instanceof Date || !isTable(value)) return JSON.stringify(value) ?? "null";
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`).join(",")}}`;
}
