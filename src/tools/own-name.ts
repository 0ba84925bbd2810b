/** The built-in tool that a name means. */
import { plainToolName } from "../base/tool-name.js";
import { CATALOG, type ToolDefinition } from "./catalog.js";

const TOOLS: readonly ToolDefinition[] = Object.values(CATALOG);

/** Returns the tool's own name for another spelling of it, such as `Bash`; else the name. A tool of an extension cannot have it. */
export function ownSpelling(name: string): string {
  const plain = plainToolName(name);
  return TOOLS.find((tool) => plainToolName(tool.name) === plain)?.name ?? name;
}

/** Returns the tool that an alias means. A tool of an extension may have the same name. */
export function aliasedTool(name: string): string | undefined {
  const plain = plainToolName(name);
  return TOOLS.find(({ habits }) => habits?.names?.some((alias) => plainToolName(alias) === plain))?.name;
}
