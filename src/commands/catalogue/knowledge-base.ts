/** Commands about the knowledge base. */
import type { Argument, CommandPlace, CommandSpec, CommandUser } from "../command.js";
import type { Flag } from "../flags.js";

const PEOPLE: readonly CommandUser[] = ["people"];
const EVERYWHERE: readonly CommandPlace[] = ["during a turn", "between turns", "without a session"];
const IN_SESSION: readonly CommandPlace[] = ["during a turn", "between turns"];
const FOLDER: Flag = { name: "cwd", value: "DIR", complete: "folder", help: "the folder (default: the current one)" };
const ALL: Flag = { name: "all", help: "in all projects" };

const shared = { users: PEOPLE, places: EVERYWHERE, reaches: "user", shellFlags: [FOLDER] } as const;
const KINDS = ["note", "finding", "decision", "question", "hypothesis"] as const;
const NAME: Argument = { name: "NAME", kind: "text" };
const DESCRIPTION: Argument = { name: "DESCRIPTION", kind: "text", optional: true, rest: "text" };

export const KB_NAMESPACE = { kb: "what you found and decided, by project" };

export const KB_STATUS: CommandSpec = {
  name: "kb:status",
  aliases: ["kb"],
  summary: "show the projects, their observations and concepts",
  ...shared,
};

export const KB_PROJECT_LIST: CommandSpec = {
  name: "kb:project:list",
  aliases: ["kb:project"],
  summary: "list the projects",
  ...shared,
};

export const KB_PROJECT_ADD: CommandSpec = {
  name: "kb:project:add",
  summary: "make a project, and use it in this folder",
  arguments: [NAME, DESCRIPTION],
  ...shared,
};

export const KB_PROJECT_USE: CommandSpec = {
  name: "kb:project:use",
  summary: "use a project in this folder",
  arguments: [{ name: "PROJECT", kind: "text", rest: "text" }],
  ...shared,
};

export const KB_PROJECT_SET: CommandSpec = {
  name: "kb:project:set",
  summary: "set the status of a project: active, paused or concluded",
  arguments: [
    { name: "PROJECT", kind: "text" },
    { name: "STATUS", kind: "choice", complete: ["active", "paused", "concluded"] },
  ],
  ...shared,
};

export const KB_OBSERVE: CommandSpec = {
  name: "kb:observe",
  summary: "record a note, or a finding, decision, question or hypothesis if the first word says so",
  usage: `/kb observe [${KINDS.join("|")}] TEXT`,
  shellUsage: `oxbow kb observe [${KINDS.join("|")}] TEXT [flags]`,
  arguments: [{ name: "TEXT", kind: "line", rest: "text", complete: KINDS }],
  ...shared,
};

export const KB_CONCEPT_LIST: CommandSpec = {
  name: "kb:concept:list",
  aliases: ["kb:concept"],
  summary: "list the concepts and how often they are used",
  ...shared,
};

export const KB_CONCEPT_ADD: CommandSpec = {
  name: "kb:concept:add",
  summary: "add a concept that all projects share, or describe one",
  arguments: [NAME, DESCRIPTION],
  ...shared,
};

export const KB_LINK: CommandSpec = {
  name: "kb:link",
  summary: "link an observation (its number) or a project (its name) to a concept, or an observation to another",
  arguments: [
    { name: "FROM", kind: "text" },
    { name: "TO", kind: "text" },
    { name: "RELATION", kind: "text", optional: true, rest: "text" },
  ],
  ...shared,
};

export const KB_SEARCH: CommandSpec = {
  name: "kb:search",
  summary: "find observations by their words",
  arguments: [{ name: "TEXT", kind: "text", rest: "text" }],
  flags: [ALL],
  ...shared,
};

export const KB_SHOW: CommandSpec = {
  name: "kb:show",
  summary: "show an observation, its links and the session that it came from",
  arguments: [{ name: "NUMBER", kind: "text" }],
  ...shared,
};

export const KB_INJECT: CommandSpec = {
  name: "kb:inject",
  summary: "give the model observations with your next input: those that fit TEXT, or the newest of the project",
  arguments: [{ name: "TEXT", kind: "text", optional: true, rest: "text" }],
  flags: [ALL],
  users: PEOPLE,
  reaches: "user",
  places: IN_SESSION,
};

export const KB_ACCEPT: CommandSpec = {
  name: "kb:accept",
  summary: "record what Oxbow offered after the last answer: all of it, or the parts with these numbers",
  arguments: [{ name: "NUMBER", kind: "text", optional: true, rest: "list" }],
  users: PEOPLE,
  reaches: "user",
  places: IN_SESSION,
};

export const KB_FORGET: CommandSpec = {
  name: "kb:forget",
  summary: "delete an observation",
  arguments: [{ name: "NUMBER", kind: "text" }],
  ...shared,
};

export const KB_EXPORT: CommandSpec = {
  name: "kb:export",
  summary: "write everything to FILE, as Markdown or as JSON lines (.jsonl)",
  arguments: [{ name: "FILE", kind: "path", optional: true, complete: "file" }],
  flags: [
    { name: "format", value: "FORMAT", choices: ["markdown", "jsonl"], help: "default: by the file's name" },
    { name: "force", help: "replace the file" },
  ],
  ...shared,
};

export const KB_IMPORT: CommandSpec = {
  name: "kb:import",
  summary: "import an exported file; what is already there stays",
  arguments: [{ name: "FILE", kind: "path", complete: "file" }],
  ...shared,
};
