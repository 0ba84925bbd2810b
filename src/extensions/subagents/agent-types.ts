/** Types of subagents: the built-in ones, and those of files. If several have one name, the most local one wins. */
import type { ExtensionFile, ExtensionScope } from "../../base/extension-files.js";
import type { Effort } from "../../engine/ports.js";
import type { AgentFileFault } from "./read-agent-type.js";

/** Describes what it is for, what it may use and its instructions. */
export interface AgentType {
  readonly name: string;
  /** The occasion to use it; the model reads this. */
  readonly description: string;
  /** Its system prompt; empty: the default one. */
  readonly prompt: string;
  /** The tools it may use, by names of Oxbow or of other harnesses; undefined for all. */
  readonly tools?: readonly string[];
  /** Tools it may not use. */
  readonly without: readonly string[];
  /** The types that it may start itself; undefined for all. */
  readonly agents?: readonly string[];
  /** The model as the file names it; undefined for the model that started it. */
  readonly model?: string;
  readonly effort?: Effort;
  /** The most model calls of its turn. */
  readonly maxIterations?: number;
  /** It works as in plan mode: it changes nothing. */
  readonly onlyReads?: true;
  /** It works on a separate branch, in a git worktree. */
  readonly isolation?: "worktree";
  readonly scope: ExtensionScope;
  /** The file that defines it; undefined for a built-in one. */
  readonly path?: string;
}

const READING = ["read", "ls", "glob", "grep", "bash"];

const EXPLORE_PROMPT = `You search a codebase for another agent. You only read; bash runs commands that only read, such as git log.
Use glob and grep to find places, and read to confirm them. Start broad, then follow what you find; try other names before you say that something does not exist.
Your last message is the report, and the only thing that the other agent sees. State facts with paths and line numbers, and say what you did not find. Do not propose changes unless the prompt asks for them.`;

export const BUILT_IN_TYPES: readonly AgentType[] = [
  {
    name: "explore",
    description: "reads and searches files, changes nothing.",
    prompt: EXPLORE_PROMPT,
    tools: READING,
    without: ["background"],
    onlyReads: true,
    scope: "built-in",
  },
  {
    name: "general",
    description: "works with all tools.",
    prompt: "",
    without: [],
    scope: "built-in",
  },
];

/** Every subagent gets this in addition to its own prompt. */
export const SUBAGENT_NOTICE =
  "You are a subagent: another agent gave you the prompt, and no person reads along or answers questions. Decide yourself and say what you assumed. Your last message is the report that the other agent gets, so it must stand on its own; what the user should know belongs there, too.";

/** `meant`: the tools that a name in its lists means. */
export function mayUse(
  { tools, without }: Pick<AgentType, "tools" | "without">,
  tool: string,
  meant: (name: string) => readonly string[],
): boolean {
  const isAmong = (names: readonly string[]) => names.some((name) => meant(name).includes(tool));
  return !isAmong(without) && (tools === undefined || isAmong(tools));
}

export interface AgentTypes {
  /** In the order of their names. */
  readonly types: readonly AgentType[];
  /** Types that another one with the same name hides. */
  readonly shadowed: readonly AgentType[];
  readonly faults: readonly AgentFileFault[];
}

const ONLY_BUILT_IN: AgentTypes = { types: BUILT_IN_TYPES, shadowed: [], faults: [] };

/** `files`: the most global first. Loads nothing for a place without files. */
export async function agentTypes(files: readonly ExtensionFile[]): Promise<AgentTypes> {
  if (files.length === 0) return ONLY_BUILT_IN;
  const { readAgentType } = await import("./read-agent-type.js");
  const read = await Promise.all(
    files
      .filter(({ name }) => /\.md$/i.test(name))
      .map(async (file) => {
        try {
          return readAgentType(await file.read(), file);
        } catch (error) {
          return { path: file.path, fault: (error as Error).message };
        }
      }),
  );
  const types = new Map(BUILT_IN_TYPES.map((type) => [type.name, type]));
  const shadowed: AgentType[] = [];
  for (const type of read) {
    if ("fault" in type) continue;
    const before = types.get(type.name);
    if (before !== undefined) shadowed.push(before);
    types.set(type.name, type);
  }
  const sorted = [...types.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { types: sorted, shadowed, faults: read.filter((each) => "fault" in each) };
}

/** By its name; capital letters do not matter, because models spell names of other harnesses. */
export function findType(types: readonly AgentType[], name: string): AgentType | undefined {
  const wanted = name.trim().toLowerCase();
  const known = wanted === "general-purpose" ? "general" : wanted;
  return types.find((type) => type.name === name) ?? types.find((type) => type.name.toLowerCase() === known);
}
