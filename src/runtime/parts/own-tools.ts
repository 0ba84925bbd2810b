import { KB_TOOL } from "../../context/knowledge-base/kb-tool-definition.js";
import { MEMORY_TOOL } from "../../context/memory/memory-tool-definition.js";
import { RETRIEVE_TOOL } from "../../context/retrieval/retrieve-tool-definition.js";
import { SKILL_TOOL } from "../../context/skills/skill-tool-definition.js";
import { SEARCH_TOOL } from "../../extensions/mcp/search-definition.js";
import { RECALL_TOOL } from "../../sessions/recall-tool-definition.js";

/** The built-in tools that are neither in the catalogue of tools nor start subagents. */
export const OWN_TOOLS: ReadonlySet<string> = new Set([
  SKILL_TOOL.name,
  MEMORY_TOOL.name,
  KB_TOOL.name,
  RECALL_TOOL.name,
  RETRIEVE_TOOL.name,
  SEARCH_TOOL,
]);
