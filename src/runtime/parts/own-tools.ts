import { KB_TOOL } from "../../context/knowledge-base/kb-tool-definition.js";
import { MEMORY_TOOL } from "../../context/memory/memory-tool-definition.js";
import { RETRIEVE_TOOL } from "../../context/retrieval/retrieve-tool-definition.js";
import { SKILL_TOOL } from "../../context/skills/part.js";
import type { ToolSet } from "../../engine/ports.js";
import { SEARCH_TOOL } from "../../extensions/mcp/search-definition.js";
import { RECALL_TOOL } from "../../sessions/recall-tool-definition.js";
import { ASK } from "../../tools/ask.js";
import { CATALOG, type ToolName } from "../../tools/catalog.js";
import { WEB_SEARCH } from "../../tools/web/definition.js";

/** The built-in tools that are neither in the catalogue of tools nor start subagents, with their sets. */
const SETS: ReadonlyMap<string, ToolSet> = new Map([
  ...[SKILL_TOOL, MEMORY_TOOL, KB_TOOL, RECALL_TOOL, RETRIEVE_TOOL, WEB_SEARCH, ASK].map(
    ({ name, set }) => [name, set] as const,
  ),
  [SEARCH_TOOL, "read"],
]);
export const OWN_TOOLS: readonly string[] = [...SETS.keys()];
export const SUBAGENT_TOOLS: readonly string[] = ["agent", "delegate"];

/** The set of a built-in tool; undefined for others. */
export function builtInSet(name: string): ToolSet | undefined {
  if (SUBAGENT_TOOLS.includes(name)) return "agents";
  return Object.hasOwn(CATALOG, name) ? CATALOG[name as ToolName].set : SETS.get(name);
}
