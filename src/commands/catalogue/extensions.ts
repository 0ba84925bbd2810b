/** Commands about the extensions in folders. */

import { pluginSettings } from "../../extensions/plugins/settings.js";
import { flagsOf } from "../../feature/setting.js";
import type { CommandPlace, CommandSpec, CommandUser } from "../command.js";
import type { Flag } from "../flags.js";

const EVERYONE: readonly CommandUser[] = ["people", "agents"];
const ANYWHERE: readonly CommandPlace[] = ["during a turn", "between turns", "without a session"];
const FOLDER: readonly Flag[] = [
  { name: "cwd", value: "DIR", complete: "folder", help: "the folder (default: the current one)" },
];

/** Also a flag of a run, and of the commands that approve content. */
export const PLUGIN_DIR = flagsOf(pluginSettings);

export const SOURCES_NAMESPACE = { sources: "folders with extensions, and whether programs of this project run" };

export const SOURCES: CommandSpec = {
  name: "sources:list",
  aliases: ["sources"],
  summary: "list the folders with extensions, what they hold, and what waits for approval",
  shellFlags: [...FOLDER, ...PLUGIN_DIR],
  reaches: "session",
  users: EVERYONE,
  places: ANYWHERE,
};

export const SOURCES_ALLOW: CommandSpec = {
  name: "sources:allow",
  summary: "run approved programs of this project from now on, without --allow-project-hooks",
  shellFlags: FOLDER,
  reaches: "user",
  users: ["people"],
  places: ANYWHERE,
};

export const SOURCES_REVOKE: CommandSpec = {
  name: "sources:revoke",
  summary: "run them only with --allow-project-hooks again",
  shellFlags: FOLDER,
  reaches: "user",
  users: ["people"],
  places: ANYWHERE,
};

export const HOOKS: CommandSpec = {
  name: "hooks",
  summary: "list the hooks of each stage, in the order they run, and the event hooks",
  shellFlags: [...FOLDER, ...PLUGIN_DIR],
  reaches: "session",
  users: EVERYONE,
  places: ANYWHERE,
};
