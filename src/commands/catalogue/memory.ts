/** Commands about memory. */
import type { Argument, CommandPlace, CommandSpec, CommandUser } from "../command.js";
import type { Flag } from "../flags.js";

const PEOPLE: readonly CommandUser[] = ["people"];
const READERS: readonly CommandUser[] = ["people", "agents in the shell"];
const ANYWHERE: readonly CommandPlace[] = ["during a turn", "between turns", "without a session"];
const SESSION: readonly CommandPlace[] = ["during a turn", "between turns"];
const BETWEEN_TURNS: readonly CommandPlace[] = ["between turns"];

export const MEMORY_NAMESPACE = { memory: "notes that Oxbow keeps for later sessions: list, add, edit, forget" };

const FOLDER: Flag = { name: "cwd", value: "DIR", complete: "folder", help: "the folder (default: the current one)" };
const NAME: Argument = { name: "NAME", kind: "text", missing: "Give the name of a memory ('oxbow memory list')." };
const SCOPE: Flag = {
  name: "scope",
  short: "s",
  value: "SCOPE",
  choices: ["user", "project"],
  help: "user: for every folder; project: for this one",
};
const TYPE: Flag = {
  name: "type",
  short: "t",
  value: "TYPE",
  choices: ["user", "feedback", "project", "reference"],
  help: "what it is about",
};

export const MEMORY_LIST: CommandSpec = {
  name: "memory:list",
  aliases: ["memory"],
  summary: "list the memories, and files that cannot be used",
  flags: [SCOPE, TYPE],
  shellFlags: [FOLDER],
  users: READERS,
  reaches: "user",
  places: ANYWHERE,
};

export const MEMORY_SHOW: CommandSpec = {
  name: "memory:show",
  summary: "show a memory, where it is and where it comes from",
  arguments: [NAME],
  shellFlags: [FOLDER],
  users: READERS,
  reaches: "user",
  places: ANYWHERE,
};

export const MEMORY_FIND: CommandSpec = {
  name: "memory:find",
  summary: "find memories by words, the best first",
  arguments: [{ name: "WORDS", kind: "line", rest: "text" }],
  shellFlags: [FOLDER],
  users: READERS,
  reaches: "user",
  places: ANYWHERE,
};

export const MEMORY_ADD: CommandSpec = {
  name: "memory:add",
  summary: "save a memory",
  arguments: [{ name: "TEXT", kind: "line", rest: "text", missing: "Give the text to remember." }],
  flags: [
    SCOPE,
    TYPE,
    { name: "name", value: "NAME", help: "its name (default: from its first words)" },
    { name: "description", short: "d", value: "LINE", help: "one line about it (default: its first words)" },
    { name: "tag", value: "WORD", repeatable: true, help: "a word to find it by; can be repeated" },
  ],
  shellFlags: [FOLDER],
  users: PEOPLE,
  reaches: "user",
  places: ANYWHERE,
};

export const MEMORY_EDIT: CommandSpec = {
  name: "memory:edit",
  summary: "replace the text of a memory; 'oxbow memory edit NAME' opens your editor",
  arguments: [NAME, { name: "TEXT", kind: "line", optional: true, rest: "text" }],
  flags: [TYPE, { name: "description", short: "d", value: "LINE", help: "one line about it" }],
  shellFlags: [FOLDER],
  users: PEOPLE,
  reaches: "user",
  places: ANYWHERE,
};

export const MEMORY_FORGET: CommandSpec = {
  name: "memory:forget",
  summary: "delete a memory",
  arguments: [NAME],
  shellFlags: [FOLDER],
  users: PEOPLE,
  reaches: "user",
  places: ANYWHERE,
};

export const MEMORY_LOG: CommandSpec = {
  name: "memory:log",
  summary: "show who changed which memory, the newest first",
  flags: [{ name: "limit", short: "n", value: "N", help: "at most this many (default 20)" }],
  shellFlags: [FOLDER],
  users: READERS,
  reaches: "user",
  places: ANYWHERE,
};

export const MEMORY_WHY: CommandSpec = {
  name: "memory:why",
  summary: "show which memories the model got with your last input, and why",
  users: PEOPLE,
  reaches: "user",
  places: SESSION,
};

export const MEMORY_ON: CommandSpec = {
  name: "memory:on",
  summary: "give the model the memory tool in this session",
  users: PEOPLE,
  reaches: "user",
  places: SESSION,
};

export const MEMORY_EXTRACT: CommandSpec = {
  name: "memory:extract",
  summary: "let the model propose memories from this conversation; nothing is saved",
  users: PEOPLE,
  reaches: "user",
  places: BETWEEN_TURNS,
};

export const MEMORY_KEEP: CommandSpec = {
  name: "memory:keep",
  summary: "save proposals of /memory extract by their numbers, or all",
  arguments: [{ name: "NUMBER", kind: "text", rest: "list", missing: "Give numbers of proposals, or all." }],
  users: PEOPLE,
  reaches: "user",
  places: BETWEEN_TURNS,
};
