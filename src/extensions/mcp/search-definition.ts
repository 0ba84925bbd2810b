/** Describes what the first request of a session has of its servers: a tool that finds their tools. It loads nothing. */
import { safeLine } from "../../base/terminal-text.js";
import type { Tool } from "../../engine/ports.js";
import description from "./search.md";

export const SEARCH_TOOL = "mcp_search";

/** In the configuration folder of the user: what each server offered last. */
export const KNOWN_TOOLS_FILE = "mcp-tools.json";

const MOST_NAMES = 700;

/** The same bytes as long as the names are the same. */
export function searchDefinition(names: readonly string[]): Omit<Tool, "run"> {
  const listed = names.map(safeLine).join(", ");
  return {
    name: SEARCH_TOOL,
    description: `${description.trim()} Servers: ${listed.length > MOST_NAMES ? `${listed.slice(0, MOST_NAMES)}…` : listed}.`,
    inputSchema: {
      type: "object",
      properties: { query: { type: "string" }, server: { type: "string" } },
      required: ["query"],
    },
    set: "read",
    concurrencySafe: true,
    mutating: false,
  };
}

/** The part of an entry's name behind `mcp_servers.`, which may contain dots itself. */
export function serverNameOf(entry: string): string {
  const at = entry.startsWith("projects.") ? entry.lastIndexOf(".mcp_servers.") + 1 : 0;
  return entry.slice(at + "mcp_servers.".length);
}

/** Tells whether words name a server: as a word of its own, so that `digit` does not name `git`. */
export function isNamed(name: string, text: string): boolean {
  const wanted = name.toLowerCase();
  const words = text.toLowerCase();
  for (let at = words.indexOf(wanted); at >= 0 && wanted !== ""; at = words.indexOf(wanted, at + 1)) {
    const before = words[at - 1] ?? " ";
    const after = words[at + wanted.length] ?? " ";
    if (!/[\p{L}\p{N}]/u.test(before) && !/[\p{L}\p{N}]/u.test(after)) return true;
  }
  return false;
}
