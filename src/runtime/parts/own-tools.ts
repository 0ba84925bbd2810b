/** The definitions of all built-in tools. */
import { plainToolName } from "../../base/tool-name.js";
import { KB_TOOL } from "../../context/knowledge-base/kb-tool-definition.js";
import { MEMORY_TOOL } from "../../context/memory/memory-tool-definition.js";
import { RETRIEVE_TOOL } from "../../context/retrieval/retrieve-tool-definition.js";
import { SKILL_TOOL } from "../../context/skills/part.js";
import type { Tool, ToolSet } from "../../engine/ports.js";
import { searchDefinition } from "../../extensions/mcp/search-definition.js";
import { agentTool } from "../../extensions/subagents/definition.js";
import { RECALL_TOOL } from "../../sessions/recall-tool-definition.js";
import { ASK } from "../../tools/ask.js";
import { CATALOG } from "../../tools/catalog.js";
import { WEB_SEARCH } from "../../tools/web/definition.js";

export const BUILT_IN_TOOLS: readonly Omit<Tool, "run">[] = [
  ...Object.values(CATALOG),
  ...[SKILL_TOOL, MEMORY_TOOL, KB_TOOL, RECALL_TOOL, RETRIEVE_TOOL, WEB_SEARCH, ASK, searchDefinition([])],
  agentTool([], { cheap: false }),
];

/** Returns the set of a built-in tool; undefined for others. */
export function builtInSet(name: string): ToolSet | undefined {
  return BUILT_IN_TOOLS.find((tool) => tool.name === name)?.set;
}

/** People and models do not distinguish `Bash` from `bash`, and a call of `Apply-Patch` means `apply_patch`. */
export function isBuiltInTool(name: string): boolean {
  const wanted = plainToolName(name);
  return BUILT_IN_TOOLS.some((tool) => plainToolName(tool.name) === wanted);
}

/** Names the built-in tools that the others can replace. */
export function expendableTools(): readonly string[] {
  return BUILT_IN_TOOLS.filter(({ expendable }) => expendable).map(({ name }) => name);
}
