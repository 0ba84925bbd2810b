/** Types of subagents: `oxbow agents`, `/agents` and `/agents:TYPE PROMPT`. */
import type { CommandSpec } from "../command.js";

export const AGENTS_NAMESPACE = { agents: "types of subagents: list them, or start one with a prompt" };

export const AGENTS: CommandSpec = {
  name: "agents:list",
  aliases: ["agents"],
  summary: "list the types of subagents, where they were found and what they shadow",
  shellFlags: [{ name: "cwd", value: "DIR", complete: "folder", help: "the folder (default: the current one)" }],
  reaches: "session",
  users: ["people", "agents"],
  places: ["during a turn", "between turns", "without a session"],
};
