/** Commands about profiles: what they are called and what they take. */
import type { Argument, CommandPlace, CommandSpec, CommandUser } from "../command.js";
import type { Flag } from "../flags.js";

const READERS: readonly CommandUser[] = ["people", "agents"];
const EVERYWHERE: readonly CommandPlace[] = ["during a turn", "between turns", "without a session"];
const CWD: Flag = { name: "cwd", value: "DIR", complete: "folder", help: "the folder (default: the current one)" };

const PROFILE_NAME: Argument = { name: "NAME", kind: "text", complete: "profile" };
export const IN_PLACE: Flag = { name: "in-place", help: "change this session instead of starting a new one" };
export const EMPTY: Flag = { name: "empty", help: "start without a summary of this conversation; do not ask" };

export const TURNS: Flag = {
  name: "turns",
  value: "N",
  help: "summarise the last N turns for it, or 'all'; do not ask",
};

export const PROFILES_NAMESPACE = { profiles: "show the profiles, or continue with another: /profiles:NAME" };

export const PROFILES_LIST: CommandSpec = {
  name: "profiles:list",
  aliases: ["profiles"],
  summary: "list the profiles: where each is from, which is in use, what replaces what",
  shellFlags: [CWD],
  users: READERS,
  reaches: "user",
  places: EVERYWHERE,
};

export const PROFILES_SHOW: CommandSpec = {
  name: "profiles:show",
  aliases: ["profile"],
  summary: "show what a profile sets, with the file of each setting; without NAME the one in use, and what it loads",
  arguments: [{ ...PROFILE_NAME, optional: true }],
  shellFlags: [CWD],
  users: READERS,
  reaches: "user",
  places: EVERYWHERE,
};

export const PROFILES_USE: CommandSpec = {
  name: "profiles:use",
  summary:
    "start a new session with a profile, and give it a summary of the last turns; /profiles:NAME is short for it",
  arguments: [PROFILE_NAME],
  flags: [IN_PLACE, TURNS, EMPTY],
  users: ["people"],
  reaches: "user",
  places: ["between turns"],
};
