/** A type of subagent: what it is for, what it may use and its instructions. */
import type { ExtensionScope } from "../../base/extension-files.js";
import type { Effort } from "../../engine/ports.js";

export interface AgentType {
  readonly name: string;
  /** When to use it; the model reads this. */
  readonly description: string;
  /** Its system prompt; empty: the default one. */
  readonly prompt: string;
  /** The tools it may use, by Oxbow's names; undefined for all. */
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

const READING = ["read", "ls", "glob", "grep", "git"];

const EXPLORE_PROMPT = `You search a codebase for another agent. You only read.
Use glob and grep to find places, and read to confirm them. Start broad, then follow what you find; try other names before you say that something does not exist.
Your last message is the report, and the only thing that the other agent sees. State facts with paths and line numbers, and say what you did not find. Do not propose changes unless the prompt asks for them.`;

export const BUILT_IN_TYPES: readonly AgentType[] = [
  {
    name: "explore",
    description: "reads and searches files, changes nothing.",
    prompt: EXPLORE_PROMPT,
    tools: READING,
    without: [],
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

/** The type of a delegated prompt. */
export const DELEGATE: AgentType = {
  name: "delegate",
  description: "a prompt on a cheaper model",
  prompt: "",
  without: ["delegate"],
  scope: "built-in",
};

/** Every subagent gets this in addition to its own prompt. */
export const SUBAGENT_NOTICE =
  "You are a subagent: another agent gave you the prompt, and no person reads along or answers questions. Decide yourself and say what you assumed. Your last message is the report that the other agent gets, so it must stand on its own.";

export function mayUse({ tools, without }: Pick<AgentType, "tools" | "without">, tool: string): boolean {
  return !without.includes(tool) && (tools === undefined || tools.includes(tool));
}
