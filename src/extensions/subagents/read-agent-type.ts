/**
 * An agent type from a Markdown file with front matter: Oxbow's own files and those of Claude Code.
 *
 * 1. Unknown fields are ignored. Fields that would widen what the subagent may do (permissionMode, mcpServers) have no effect. Its hooks
 *    are approved and read apart from it.
 * 2. A file without a usable type is reported with the reason; the others still work.
 */
import type { ExtensionFile } from "../../base/extension-files.js";
import { type FrontMatter, lineOf, wordsOf } from "../../base/front-matter.js";
import { readLooseFrontMatter } from "../../base/loose-front-matter.js";
import type { Effort } from "../../engine/ports.js";
import type { AgentType } from "./agent-types.js";

export interface AgentFileFault {
  readonly path: string;
  /** A sentence without its full stop. */
  readonly fault: string;
}

const NAME = /^[\p{L}\p{N}][\p{L}\p{N}_. -]{0,63}$/u;
const EFFORTS: readonly Effort[] = ["low", "medium", "high"];

type Origin = Pick<ExtensionFile, "path" | "name" | "scope"> & Partial<Pick<ExtensionFile, "plugin" | "source">>;

export function readAgentType(text: string, origin: Origin): AgentType | AgentFileFault {
  const { path, name: file, scope, plugin, source = "" } = origin;
  const matter = readLooseFrontMatter(text);
  if ("fault" in matter) return { path, fault: matter.message };
  const { fields, body } = matter;
  const name = lineOf(fields, "name") ?? stem(file);
  if (!NAME.test(name)) return { path, fault: `"${name}" is not a name for an agent type` };
  const description = lineOf(fields, "description");
  if (description === undefined) return { path, fault: "It has no description" };
  const model = lineOf(fields, "model");
  const effort = EFFORTS.find((level) => level === lineOf(fields, "effort"));
  const most = Number(lineOf(fields, "maxTurns") ?? lineOf(fields, "max_iterations"));
  const prompt = body.trim();
  return {
    name: plugin === undefined ? name : `${plugin}:${name}`,
    description,
    prompt: plugin === undefined ? prompt : prompt.replace(/\$\{CLAUDE_PLUGIN_ROOT\}/g, () => source),
    ...toolFields(matter),
    ...(model !== undefined && model !== "inherit" && { model }),
    ...(effort !== undefined && { effort }),
    ...(Number.isInteger(most) && most > 0 && { maxIterations: most }),
    ...(lineOf(fields, "permissionMode") === "plan" && { onlyReads: true as const }),
    ...(lineOf(fields, "isolation") === "worktree" && { isolation: "worktree" as const }),
    scope,
    path,
  };
}

function toolFields({ fields }: FrontMatter): Pick<AgentType, "tools" | "without" | "agents"> {
  const without = toolsOf(wordsOf(fields, "disallowedTools"))?.tools ?? [];
  const listed = fields.has("tools") && fields.get("tools") !== null ? toolsOf(wordsOf(fields, "tools")) : undefined;
  return { ...listed, without };
}

function stem(file: string): string {
  return (file.split("/").at(-1) ?? file).replace(/\.(agent\.)?md$/i, "");
}

interface ListedTools {
  readonly tools: readonly string[];
  /** The types in `Agent(a, b)`; undefined if it names none. */
  readonly agents?: readonly string[];
}

/** Undefined for `*`: all tools. */
function toolsOf(words: readonly string[]): ListedTools | undefined {
  if (words.includes("*")) return undefined;
  const tools = new Set<string>();
  let agents: readonly string[] | undefined;
  for (const word of words) {
    const [, name = word, inner] = /^\s*([^()\s]+)\s*(?:\((.*)\))?\s*$/.exec(word) ?? [];
    const isAgent = name === "Agent" || name === "Task" || name === "agent";
    if (isAgent && inner !== undefined) {
      agents = [...(agents ?? []), ...inner.split(",").map((type) => type.trim())].filter((type) => type !== "");
    }
    tools.add(name);
  }
  return { tools: [...tools], ...(agents !== undefined && { agents }) };
}
