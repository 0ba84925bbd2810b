/** The tools that an agent type lists, by Oxbow's names. */

/** Claude Code's names. A tool that Oxbow does not have maps to none. */
const OURS: Readonly<Record<string, readonly string[]>> = {
  Read: ["read"],
  NotebookRead: ["read"],
  Write: ["write"],
  Edit: ["edit", "apply_patch"],
  MultiEdit: ["edit", "apply_patch"],
  NotebookEdit: ["edit", "apply_patch"],
  Bash: ["bash", "background"],
  BashOutput: ["background"],
  KillShell: ["background"],
  KillBash: ["background"],
  Grep: ["grep"],
  Glob: ["glob"],
  LS: ["ls"],
  WebFetch: ["web_fetch"],
  WebSearch: ["web_search"],
  TodoWrite: ["todo"],
  TodoRead: ["todo"],
  TaskCreate: ["todo"],
  TaskUpdate: ["todo"],
  TaskList: ["todo"],
  Task: ["agent", "delegate"],
  Agent: ["agent", "delegate"],
  Skill: ["skill"],
};

export interface ListedTools {
  readonly tools: readonly string[];
  /** The types in `Agent(a, b)`; undefined if it names none. */
  readonly agents?: readonly string[];
}

/** Undefined for `*`: all tools. */
export function toolsOf(words: readonly string[]): ListedTools | undefined {
  if (words.includes("*")) return undefined;
  const tools = new Set<string>();
  let agents: readonly string[] | undefined;
  for (const word of words) {
    const [, name = word, inner] = /^\s*([^()\s]+)\s*(?:\((.*)\))?\s*$/.exec(word) ?? [];
    const isAgent = name === "Agent" || name === "Task" || name === "agent";
    if (isAgent && inner !== undefined) {
      agents = [...(agents ?? []), ...inner.split(",").map((type) => type.trim())].filter((type) => type !== "");
    }
    for (const ours of Object.hasOwn(OURS, name) ? (OURS[name] ?? []) : [name]) tools.add(ours);
  }
  return { tools: [...tools], ...(agents !== undefined && { agents }) };
}
