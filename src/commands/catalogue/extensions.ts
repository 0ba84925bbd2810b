/** Commands about the extensions in folders. */
import type { CommandPlace, CommandSpec, CommandUser } from "../command.js";
import type { Flag } from "../flags.js";

const EVERYONE: readonly CommandUser[] = ["people", "agents"];
const ANYWHERE: readonly CommandPlace[] = ["during a turn", "between turns", "without a session"];
const FOLDER: readonly Flag[] = [
  { name: "cwd", value: "DIR", complete: "folder", help: "the folder (default: the current one)" },
];

/** Also a flag of a run, and of the commands that approve content. */
export const PLUGIN_DIR: Flag = {
  name: "plugin-dir",
  value: "DIR",
  repeatable: true,
  complete: "folder",
  help: "a folder with a plugin of Claude Code: skills, commands, agents, hooks, MCP servers (repeatable)",
};

export const SOURCES: CommandSpec = {
  name: "sources",
  summary: "list the folders with extensions, what they hold, and what waits for approval",
  shellFlags: [...FOLDER, PLUGIN_DIR],
  reaches: "session",
  users: EVERYONE,
  places: ANYWHERE,
};

export const HOOKS: CommandSpec = {
  name: "hooks",
  summary: "list the hooks of each stage, in the order they run, and those of events",
  shellFlags: [...FOLDER, PLUGIN_DIR],
  reaches: "session",
  users: EVERYONE,
  places: ANYWHERE,
};
