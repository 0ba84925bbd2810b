/** The definitions of all built-in tools. */
import { plainToolName } from "../../base/tool-name.js";
import { KB_TOOL } from "../../context/knowledge-base/kb-tool-definition.js";
import { MEMORY_TOOL } from "../../context/memory/memory-tool-definition.js";
import { RETRIEVE_TOOL } from "../../context/retrieval/retrieve-tool-definition.js";
import { SKILL_TOOL } from "../../context/skills/part.js";
import type { Tool, ToolSet } from "../../engine/ports.js";
import { searchDefinition } from "../../extensions/mcp/search-definition.js";
import { agentTool } from "../../extensions/subagents/definition.js";
import type { RuledTools } from "../../security/permissions/claude-rules.js";
import { RECALL_TOOL } from "../../sessions/recall-tool-definition.js";
import { ASK } from "../../tools/ask.js";
import { CATALOG } from "../../tools/catalog.js";
import { WEB_SEARCH } from "../../tools/web/definition.js";

export const BUILT_IN_TOOLS: readonly Omit<Tool, "run">[] = [
  ...Object.values(CATALOG),
  ...[SKILL_TOOL, MEMORY_TOOL, KB_TOOL, RECALL_TOOL, RETRIEVE_TOOL, WEB_SEARCH, ASK, searchDefinition([])],
  agentTool([], { cheap: false }),
];

type Definition = (typeof BUILT_IN_TOOLS)[number];

/** Returns the set of a built-in tool; undefined for others. */
export function builtInSet(name: string): ToolSet | undefined {
  return BUILT_IN_TOOLS.find((tool) => tool.name === name)?.set;
}

/** Finds a built-in tool by any spelling of its name, such as `Bash`. A tool of an extension cannot have such a name. */
export function spelledTool(name: string): Definition | undefined {
  const plain = plainToolName(name);
  return BUILT_IN_TOOLS.find((tool) => plainToolName(tool.name) === plain);
}

/** Finds the built-in tool that an alias means. A tool of an extension may have the same name. */
export function aliasedTool(name: string): Definition | undefined {
  const plain = plainToolName(name);
  return BUILT_IN_TOOLS.find(({ habits }) => habits?.names?.some((alias) => plainToolName(alias) === plain));
}

export function isBuiltInTool(name: string): boolean {
  return spelledTool(name) !== undefined;
}

/** For rules of other harnesses. */
export const RULED_TOOLS: RuledTools = {
  editing: BUILT_IN_TOOLS.filter(({ kind }) => kind === "edit").map(({ name }) => name),
  named: (name) => (spelledTool(name) ?? aliasedTool(name))?.name,
};

/** Lists the tools that a name of Oxbow or of another harness means in a list, with those that belong to it. Another name means itself. */
export function toolsMeant(name: string): readonly string[] {
  const tool = spelledTool(name) ?? aliasedTool(name);
  if (tool === undefined) return [name];
  const belongs = BUILT_IN_TOOLS.filter(({ comesWith }) => comesWith === tool.name).map((each) => each.name);
  return [tool.name, ...belongs, ...(tool.replacedBy === undefined ? [] : [tool.replacedBy.tool])];
}

/** Names the built-in tools that the others can replace. */
export function expendableTools(): readonly string[] {
  return BUILT_IN_TOOLS.filter(({ expendable }) => expendable).map(({ name }) => name);
}
