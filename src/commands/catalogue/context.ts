/** Commands that gather context for the model and write its answers to files. */
import type { CommandPlace, CommandSpec, CommandUser } from "../command.js";

const PEOPLE: readonly CommandUser[] = ["people"];
const BETWEEN_TURNS: readonly CommandPlace[] = ["between turns"];
const ANY_TIME: readonly CommandPlace[] = ["during a turn", "between turns"];

export const READ: CommandSpec = {
  name: "read",
  summary: "give the model files with your next input",
  arguments: [{ name: "FILE", kind: "path", rest: "list", complete: "file" }],
  reaches: "user",
  users: PEOPLE,
  places: BETWEEN_TURNS,
};

export const SEARCH: CommandSpec = {
  name: "search",
  summary: "search the files for a regular expression, and give the model the matches",
  arguments: [
    { name: "PATTERN", kind: "text" },
    { name: "PATH", kind: "path", optional: true, complete: "folder" },
  ],
  reaches: "user",
  users: PEOPLE,
  places: BETWEEN_TURNS,
};

export const FILES: CommandSpec = {
  name: "files",
  summary: "list a folder, and give the model the list",
  arguments: [{ name: "PATH", kind: "path", optional: true, complete: "folder" }],
  reaches: "user",
  users: PEOPLE,
  places: BETWEEN_TURNS,
};

export const GIT: CommandSpec = {
  name: "git",
  usage: "/git status|diff|log|show|blame [ARGUMENTS]",
  summary: "run a git command that only reads, and give the model its output",
  arguments: [
    { name: "ACTION", kind: "choice", complete: ["status", "diff", "log", "show", "blame"] },
    { name: "ARGUMENTS", kind: "text", optional: true, rest: "list" },
  ],
  reaches: "user",
  users: PEOPLE,
  places: BETWEEN_TURNS,
};

export const RUN: CommandSpec = {
  name: "run",
  summary: "run a shell command yourself, and give the model its output",
  arguments: [{ name: "COMMAND", kind: "line", rest: "text" }],
  reaches: "user",
  users: PEOPLE,
  places: BETWEEN_TURNS,
};

export const WRITE: CommandSpec = {
  name: "write",
  summary: "write the first code block of the last answer, or all of it, to a file",
  arguments: [{ name: "PATH", kind: "path", complete: "file" }],
  reaches: "user",
  users: PEOPLE,
  places: BETWEEN_TURNS,
};

export const APPLY: CommandSpec = {
  name: "apply",
  summary: "write the files that the last answer's code blocks name, after a question",
  flags: [{ name: "yes", short: "y", help: "write them without a question" }],
  reaches: "user",
  users: PEOPLE,
  places: BETWEEN_TURNS,
};

export const CONTEXT_NAMESPACE = { context: "pin text that stays, and see what the model gets with your next input" };

export const CONTEXT_ADD: CommandSpec = {
  name: "context:add",
  summary: "pin text that survives /clear and compaction",
  arguments: [{ name: "TEXT", kind: "line", rest: "text" }],
  reaches: "session",
  users: PEOPLE,
  places: BETWEEN_TURNS,
};

export const CONTEXT_SHOW: CommandSpec = {
  name: "context:show",
  aliases: ["context"],
  summary:
    "show what fills the context window, the pinned text, what waits for your next input, and the instruction files",
  reaches: "session",
  users: PEOPLE,
  places: ANY_TIME,
};

export const CONTEXT_CLEAR: CommandSpec = {
  name: "context:clear",
  summary: "remove the pinned text, and what waits for your next input",
  reaches: "session",
  users: PEOPLE,
  places: BETWEEN_TURNS,
};

export const CONTEXT_LOAD_DIR: CommandSpec = {
  name: "context:load-dir",
  summary: "give the model all files of a folder with your next input, or those that match GLOB",
  arguments: [
    { name: "PATH", kind: "path", complete: "folder" },
    { name: "GLOB", kind: "text", optional: true },
  ],
  reaches: "user",
  users: PEOPLE,
  places: BETWEEN_TURNS,
};

export const INIT: CommandSpec = {
  name: "init",
  summary: "let the model write an AGENTS.md from what the repository shows, for your review",
  arguments: [{ name: "WISHES", kind: "line", optional: true, rest: "text" }],
  reaches: "session",
  sends: "SendInput",
  users: PEOPLE,
  places: BETWEEN_TURNS,
};
