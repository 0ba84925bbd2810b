import { KB_TOOL } from "../../context/knowledge-base/kb-tool-definition.js";
import { MEMORY_TOOL } from "../../context/memory/memory-tool-definition.js";
import { RETRIEVE_TOOL } from "../../context/retrieval/retrieve-tool-definition.js";
import { SKILL_TOOL } from "../../context/skills/part.js";
import type { Tool, ToolSet } from "../../engine/ports.js";
import { searchDefinition } from "../../extensions/mcp/search-definition.js";
import { RECALL_TOOL } from "../../sessions/recall-tool-definition.js";
import { ASK } from "../../tools/ask.js";
import { CATALOG } from "../../tools/catalog.js";
import { WEB_SEARCH } from "../../tools/web/definition.js";

/** The built-in tools that are neither in the catalogue of tools nor start subagents. */
const OWN = [SKILL_TOOL, MEMORY_TOOL, KB_TOOL, RECALL_TOOL, RETRIEVE_TOOL, WEB_SEARCH, ASK, searchDefinition([])];
const KNOWN: readonly Omit<Tool, "run">[] = [...OWN, ...Object.values(CATALOG)];
export const OWN_TOOLS: readonly string[] = OWN.map(({ name }) => name);
export const SUBAGENT_TOOLS: readonly string[] = ["agent", "delegate"];

/** Returns the set of a built-in tool; undefined for others. */
export function builtInSet(name: string): ToolSet | undefined {
  return SUBAGENT_TOOLS.includes(name) ? "agents" : KNOWN.find((tool) => tool.name === name)?.set;
}

/** Names the built-in tools that the others can replace. */
export async function expendableTools(): Promise<readonly string[]> {
  const { agentTool, delegateTool } = await import("../../extensions/subagents/definition.js");
  const all = [...KNOWN, agentTool([], { cheap: false }), delegateTool()];
  return all.filter(({ expendable }) => expendable).map(({ name }) => name);
}
