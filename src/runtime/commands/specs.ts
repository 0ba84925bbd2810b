/** Commands of a conversation: what they are called and what they take. */
import {
  BETWEEN_TURNS,
  type CommandPlace,
  type CommandSpec,
  EVERYONE,
  EVERYWHERE,
  IN_SESSION,
} from "../../feature/command.js";

const CLIENT: readonly CommandPlace[] = ["in a client", "between turns"];

export const HELP: CommandSpec = {
  name: "help",
  summary: "list the commands, or explain one",
  arguments: [{ name: "COMMAND", kind: "text", optional: true, rest: "list", complete: "command" }],
  reaches: "session",
  users: EVERYONE,
  places: EVERYWHERE,
};

export const STATUS: CommandSpec = {
  name: "status",
  summary: "show the model, workspace, permissions and size of the conversation",
  reaches: "session",
  users: EVERYONE,
  places: IN_SESSION,
};

export const MODEL: CommandSpec = {
  name: "model",
  summary: "show the models, or switch to one by its number there, NAME or PROVIDER:NAME",
  arguments: [{ name: "NAME", kind: "text", optional: true, complete: "model" }],
  reaches: "session",
  sends: "SetModel",
  users: EVERYONE,
  places: IN_SESSION,
};

export const ADD_DIR: CommandSpec = {
  name: "add-dir",
  summary: "let this session use a further folder like its workspace; without DIR: list such folders",
  arguments: [{ name: "DIR", kind: "path", optional: true, rest: "text", complete: "folder" }],
  reaches: "user",
  places: IN_SESSION,
};

export const BTW: CommandSpec = {
  name: "btw",
  summary: "ask the model beside the conversation, also while it works; question and answer do not enter it",
  arguments: [{ name: "QUESTION", kind: "line", rest: "text" }],
  reaches: "session",
  sends: "SendInput",
  places: IN_SESSION,
};

export const EFFORT: CommandSpec = {
  name: "effort",
  summary: "show or set how much the model thinks; auto: the model decides",
  arguments: [{ name: "EFFORT", kind: "choice", optional: true, complete: ["low", "medium", "high", "auto"] }],
  reaches: "session",
  users: EVERYONE,
  places: IN_SESSION,
};

export const MODE: CommandSpec = {
  name: "mode",
  summary:
    "show or set what runs without a question: auto (what the sandbox contains), review (that without edits), plan (nothing changes) or ask",
  arguments: [{ name: "MODE", kind: "choice", optional: true, complete: ["auto", "review", "plan", "ask"] }],
  reaches: "session",
  sends: "SetMode",
  places: IN_SESSION,
};

export const COMPACT: CommandSpec = {
  name: "compact",
  usage: "/compact [WHAT TO KEEP]",
  summary: "summarise the older messages",
  arguments: [{ name: "WHAT TO KEEP", kind: "line", optional: true, rest: "text" }],
  reaches: "session",
  users: EVERYONE,
  places: BETWEEN_TURNS,
};

export const SUMMARIZE: CommandSpec = {
  name: "summarize",
  usage: "/summarize [--show] [WHAT MATTERS]",
  summary: "replace the whole conversation by a summary; pinned text stays",
  arguments: [{ name: "WHAT MATTERS", kind: "line", optional: true, rest: "text" }],
  flags: [{ name: "show", help: "only show a summary and change nothing" }],
  reaches: "session",
  users: EVERYONE,
  places: BETWEEN_TURNS,
};

export const RECORD_NAMESPACE = { record: "write the session to a Markdown file while it runs" };

export const RECORD_START: CommandSpec = {
  name: "record:start",
  summary: "start to record",
  arguments: [{ name: "FILE", kind: "path", optional: true, rest: "text", complete: "file" }],
  places: IN_SESSION,
};

export const RECORD_STOP: CommandSpec = {
  name: "record:stop",
  summary: "stop recording",
  places: IN_SESSION,
};

export const RECORD_STATUS: CommandSpec = {
  name: "record:status",
  aliases: ["record"],
  summary: "show whether the session is recorded",
  reaches: "session",
  users: EVERYONE,
  places: IN_SESSION,
};

export const ENV: CommandSpec = {
  name: "env",
  summary: "show which variables commands of the model get, and which not and why (names only)",
  places: IN_SESSION,
};

export const SHELL: CommandSpec = {
  name: "shell",
  usage: "!COMMAND",
  summary: "run a shell command yourself; the model gets its output with your next prompt (!!COMMAND: it does not)",
  arguments: [{ name: "COMMAND", kind: "line", rest: "text" }],
  places: IN_SESSION,
};

export const QUEUE: CommandSpec = {
  name: "queue",
  summary: "during a turn: send TEXT after it (a plain line goes to the model during the turn)",
  arguments: [{ name: "TEXT", kind: "line", rest: "text" }],
  reaches: "session",
  sends: "SendInput",
  users: EVERYONE,
  places: ["in a client", "during a turn", "between turns"],
};

export const CANCEL: CommandSpec = {
  name: "cancel",
  summary: "stop the running turn (also Ctrl-C)",
  reaches: "session",
  sends: "CancelTurn",
  users: EVERYONE,
  places: ["in a client", "during a turn", "between turns"],
};

export const CLEAR: CommandSpec = {
  name: "clear",
  aliases: ["new"],
  summary: "start a new, empty conversation; model, effort, plan mode, rules, budget and recording stay",
  reaches: "session",
  users: EVERYONE,
  places: CLIENT,
};

export const EXIT_COMMAND: CommandSpec = {
  name: "exit",
  aliases: ["quit", "bye"],
  summary: "leave (also Ctrl-D)",
  reaches: "session",
  users: EVERYONE,
  places: CLIENT,
};

/** Only a client can do these. */
export const CLIENT_COMMANDS: readonly CommandSpec[] = [QUEUE, CANCEL, CLEAR, EXIT_COMMAND];

export const KEEP: CommandSpec = {
  name: "keep",
  summary: "apply what the last command wrote that was cancelled or ran out of time",
  places: IN_SESSION,
};
