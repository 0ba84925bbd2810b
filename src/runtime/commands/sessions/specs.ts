/** Stored sessions: `oxbow session …`, `/session …` and `/sessions:…`. */

import {
  type Argument,
  BETWEEN_TURNS,
  type CommandPlace,
  type CommandSpec,
  EVERYONE,
  EVERYWHERE,
  IN_SESSION,
  IN_SHELL,
  READERS,
} from "../../../feature/command.js";
import type { Flag } from "../../../feature/flags.js";
import { storeWords } from "../../../sessions/stores.js";
import { HTML_PARTS } from "../../../sessions/transfer/html-parts.js";

/** In the shell an agent's command runs under its permissions; in a session it would not. */
const NO_TURN: readonly CommandPlace[] = ["between turns", "without a session"];

export const SESSION_SHELL_FLAGS: readonly Flag[] = [
  { name: "store", value: "STORE", help: storeWords() },
  { name: "cwd", value: "DIR", complete: "folder", help: "the folder (default: the current one)" },
];

export const SESSION_NAMESPACE = { session: "stored sessions: list, search, show, branch, export and more" };

const NEEDED_ID: Argument = {
  name: "ID",
  kind: "text",
  complete: "session",
  missing: "Which session? Give its id, or a part of it ('oxbow session list').",
};
/** Default in a conversation: its own session. */
const ID: Argument = { ...NEEDED_ID, optional: "in a session" };
const YES: Flag = { name: "yes", short: "y", help: "do not ask" };

const session = (action: string, spec: Omit<CommandSpec, "name">): CommandSpec => ({
  ...spec,
  name: `session:${action}`,
  aliases: [`sessions:${action}`, ...(spec.aliases ?? [])],
  shellFlags: SESSION_SHELL_FLAGS,
});

export const SESSION_LIST = session("list", {
  aliases: ["session", "sessions"],
  summary: "list the sessions of this folder, latest first (the default)",
  flags: [
    { name: "all", short: "a", help: "list the sessions of all folders" },
    { name: "limit", short: "n", value: "N", help: "at most this many (default 20, 0 for all)" },
    { name: "pinned", help: "only pinned sessions" },
    { name: "subagents", help: "with the sessions of their subagents below them" },
  ],
  users: EVERYONE,
  places: EVERYWHERE,
});

export const SESSION_SHOW = session("show", {
  summary: "show messages, calls and results",
  arguments: [ID],
  flags: [
    { name: "turn", short: "t", value: "N", help: "only these turns: 3, 3-5, 3- or -5" },
    { name: "details", short: "d", help: "with thinking, arguments, whole results and times" },
  ],
  users: EVERYONE,
  places: EVERYWHERE,
});

export const SESSION_SEARCH = session("search", {
  summary: 'find words in all sessions: WORDS "a phrase" -without',
  arguments: [{ name: "WORDS", kind: "line", rest: "text" }],
  flags: [
    {
      name: "best",
      short: "b",
      help: "the best matches first; one of the words is enough (default: the newest first, with all words)",
    },
    { name: "here", help: "only in sessions of this folder" },
    { name: "session", short: "s", value: "ID", complete: "session", help: "only in this session" },
    {
      name: "in",
      value: "PART",
      repeatable: true,
      choices: ["input", "answer", "call", "result", "title"],
      help: "only in inputs, answers, calls, results or titles; can be repeated",
    },
    { name: "since", value: "TIME", help: "only since this time: 7d, 12h, today or a date such as 2026-01-31" },
    { name: "until", value: "TIME", help: "only before this time" },
    { name: "limit", short: "n", value: "N", help: "at most this many places (default 20)" },
  ],
  users: EVERYONE,
  places: EVERYWHERE,
});

export const RECALL: CommandSpec = {
  name: "recall",
  summary: "find earlier words of this session, also those that a summary replaced",
  arguments: [{ name: "WORDS", kind: "line", rest: "text", missing: "Give words to search for." }],
  flags: [
    { name: "all", short: "a", help: "in all sessions of this folder" },
    { name: "limit", short: "n", value: "N", help: "at most this many places (default 8)" },
  ],
  places: IN_SESSION,
};

export const SESSION_DIFF = session("diff", {
  aliases: ["diff"],
  summary: "show the files it changed, or two sessions side by side",
  arguments: [ID, { name: "OTHER", kind: "text", optional: true, complete: "session" }],
  users: EVERYONE,
  places: EVERYWHERE,
});

export const SESSION_COMPARE = session("compare", {
  aliases: ["compare"],
  summary: "show two to four sessions side by side: calls, files, tokens, time and cost of each turn",
  usage: "/session compare ID [ID …]",
  shellUsage: "oxbow session compare ID ID [ID …] [flags]",
  arguments: [{ name: "ID", kind: "text", rest: "list", complete: "session" }],
  users: EVERYONE,
  places: EVERYWHERE,
});

export const SESSION_BRANCH = session("branch", {
  aliases: ["branch", "fork"],
  summary: "start a new session as a copy, up to the end of a turn",
  arguments: [ID, { name: "at TURN", kind: "text", optional: true, rest: "list" }],
  flags: [
    { name: "turn", short: "t", value: "N", help: "the last turn to copy (default: the last finished one)" },
    { name: "title", value: "TEXT", help: "the title (default: that of the original)" },
  ],
  users: READERS,
  places: EVERYWHERE,
});

const RERUN_FLAGS: readonly Flag[] = [
  { name: "from", value: "N", help: "the first turn to run again" },
  { name: "to", value: "N", help: "the last one (default: the last of the session; with --prompt only one)" },
  { name: "recorded", help: "run no tool: each call gets its recorded result, and a call without one ends the turn" },
  { name: "instructions", value: "FILE", complete: "file", help: "this file instead of the AGENTS.md of the folder" },
  { name: "title", value: "TEXT", help: "the title (default: that of the original, with the turn)" },
];

/** In the shell the turns run at once; the flags of a run say what is different. */
export const SESSION_RERUN = session("rerun", {
  summary: "run turns again, with another model, prompt, instructions, tools or rules, in a worktree of its own",
  usage: "/session rerun ID --from N [flags]",
  shellUsage: "oxbow session rerun ID --from N [flags]",
  arguments: [NEEDED_ID],
  flags: [...RERUN_FLAGS, { name: "prompt", value: "TEXT", help: "this instead of the input of the first turn" }],
  places: IN_SHELL,
});

/** In a conversation: the client continues with the copy, and sends the inputs. */
export const RERUN_HERE: CommandSpec = {
  name: "rerun",
  usage: "/rerun ID --from N [flags]",
  summary: "make a copy that ends before a turn, in a worktree of its own, and continue there",
  arguments: [ID],
  flags: [...RERUN_FLAGS, { name: "model", value: "NAME", complete: "model", help: "the model of the copy" }],
  places: BETWEEN_TURNS,
};

/** It writes files, so it is for people. A conversation has the short form without an ID, with words instead of the flags. */
export const UNDO: CommandSpec = {
  name: "undo",
  aliases: ["unapply", "session:undo", "sessions:undo"],
  usage: "/undo [TURN | redo] [yes]",
  shellUsage: "oxbow session undo ID [flags]",
  summary: "show the file changes of a turn, and revert them after a yes",
  arguments: [{ name: "WHICH", kind: "text", optional: true, rest: "list", complete: "session" }],
  flags: [
    { name: "turn", short: "t", value: "N", help: "only this turn (default: the last one that changed files)" },
    { name: "from", value: "N", help: "this turn and everything after it" },
    { name: "redo", help: "redo the last undo" },
    { name: "dry-run", short: "n", help: "only show what would be done" },
    { name: "skip-conflicts", help: "skip files that changed since, and revert the rest" },
    { name: "only", value: "PATH", repeatable: true, help: "only this file of the plan; can be repeated" },
    {
      name: "hunks",
      value: "PATH=1,3",
      repeatable: true,
      help: "only these changes of a file, numbered as the diff shows them; can be repeated",
    },
    { name: "yes", short: "y", help: "do not ask, except about guarded files" },
    { name: "guarded", help: "with --yes: also guarded files, which other programs run or obey" },
  ],
  shellFlags: SESSION_SHELL_FLAGS,
  reaches: "session",
  places: NO_TURN,
};

export const SESSION_EXPORT = session("export", {
  aliases: ["export"],
  summary: "write it as HTML, Markdown or JSONL (events): a conversation to a file, the shell to its output",
  arguments: [ID],
  flags: [
    {
      name: "format",
      short: "f",
      value: "FORMAT",
      choices: ["jsonl", "markdown", "html"],
      help: "jsonl (every event; default in the shell), markdown (a readable transcript; default in a conversation) or html",
    },
    { name: "html", help: "one page that works without a server and runs no script, to show to others" },
    {
      name: "without",
      value: "PART[,PART]",
      repeatable: true,
      choices: HTML_PARTS,
      help: `leave out of the page: ${HTML_PARTS.join(", ")}; can be repeated`,
    },
    { name: "output", short: "o", value: "FILE", complete: "file", help: "into a new file; - for the answer itself" },
  ],
  users: READERS,
  places: EVERYWHERE,
});

export const SESSION_IMPORT = session("import", {
  summary: "import transcripts of Oxbow, Claude Code or Codex",
  arguments: [{ name: "FILE", kind: "path", optional: true, rest: "list", complete: "file" }],
  flags: [
    { name: "list", short: "l", help: "show the Claude Code and Codex transcripts on this machine" },
    { name: "here", help: "make it a session of this folder, without asking" },
    { name: "there", help: "make it a session of the folder that the file names, without asking" },
  ],
  places: NO_TURN,
});

export const SESSION_PIN = session("pin", {
  summary: "keep its content (no expiry)",
  arguments: [ID],
  users: READERS,
  places: EVERYWHERE,
});

export const SESSION_UNPIN = session("unpin", {
  summary: "let its content expire again",
  arguments: [ID],
  places: EVERYWHERE,
});

export const SESSION_RENAME = session("rename", {
  summary: "rename a session; in a conversation 'this' means its own session",
  arguments: [NEEDED_ID, { name: "TITLE", kind: "text", rest: "text" }],
  places: EVERYWHERE,
});

export const SESSION_VERIFY = session("verify", {
  shellUsage: "oxbow session verify ID | --all [flags]",
  summary: "find changed, missing or reordered events",
  arguments: [{ ...ID, optional: true }],
  flags: [{ name: "all", short: "a", help: "every session" }],
  users: READERS,
  places: EVERYWHERE,
});

export const SESSION_GC = session("gc", {
  summary: "delete expired content that was announced",
  flags: [{ name: "dry-run", short: "n", help: "only show what would be deleted" }],
  places: NO_TURN,
});

export const SESSION_DISMISS = session("dismiss", {
  summary: "hide the notice about sessions whose content expires soon; it still expires",
  places: EVERYWHERE,
});

export const SESSION_DELETE = session("delete", {
  summary: "delete it, with its events and its undo copies",
  arguments: [NEEDED_ID],
  flags: [YES],
  places: NO_TURN,
});

/** These need the terminal to themselves. */

export const SESSION_RESUME = session("resume", {
  summary: "resume it (also: oxbow sess_…)",
  arguments: [NEEDED_ID, { name: "PROMPT", kind: "text", optional: true, rest: "text" }],
  users: READERS,
  places: IN_SHELL,
});

/** In a conversation, which continues with the other session. */
export const RESUME_HERE: CommandSpec = {
  name: "resume",
  aliases: ["session:attach", "sessions:attach"],
  summary: "continue another session here; without an id the terminal client shows a list",
  arguments: [{ ...NEEDED_ID, optional: true }],
  places: BETWEEN_TURNS,
};

/** In a conversation: its own session. */
export const RENAME_HERE: CommandSpec = {
  name: "rename",
  summary: "rename this session",
  arguments: [{ name: "TITLE", kind: "text", rest: "text", missing: "Give the new title: /rename TITLE" }],
  reaches: "session",
  places: IN_SESSION,
};

export const SESSION_REPLAY = session("replay", {
  summary: "step through it; runs nothing",
  arguments: [NEEDED_ID],
  users: READERS,
  places: IN_SHELL,
});

export const SESSION_COMPACT = session("compact", {
  summary: "summarise its older messages; WORDS say what to keep",
  arguments: [NEEDED_ID, { name: "WORDS", kind: "text", optional: true, rest: "text" }],
  flags: [{ name: "dry-run", help: "only show a summary" }],
  places: IN_SHELL,
});
