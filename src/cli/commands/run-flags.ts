import type { Flag } from "../../commands/flags.js";

/** Flags of `oxbow run` and of a bare prompt. */
export const RUN_FLAGS: readonly Flag[] = [
  { name: "model", short: "m", value: "NAME", help: "model, as NAME or PROVIDER:NAME (see 'oxbow models')" },
  { name: "provider", value: "NAME", help: "anthropic, openai, ollama, offline … ('oxbow models' lists them all)" },
  {
    name: "image",
    value: "FILE",
    repeatable: true,
    help: "a PNG, JPEG, GIF or WebP for the model to look at (repeatable)",
  },
  { name: "effort", value: "LEVEL", help: "how much the model shall think: low, medium, high (default: as it likes)" },
  { name: "max-iterations", value: "N", help: "most model calls in the turn (default 100)" },
  {
    name: "tool-set",
    value: "SET[,SET]",
    repeatable: true,
    help: "tools to offer: read, edit, command, git, web (repeatable)",
  },
  {
    name: "permission-mode",
    value: "MODE",
    help: "auto: as ask, and contained commands run unasked (default); ask: what only reads, and edits under a sandbox, are free; allow: all; deny: none",
  },
  { name: "strict-permissions", help: "also ask before what is known to only read" },
  { name: "auto-approve", help: "answer every question with yes; what is denied stays denied" },
  { name: "plan", help: "plan only: nothing is changed until you approve the plan" },
  {
    name: "sandbox",
    value: "MODE",
    help: "auto: commands run in the system's sandbox where there is one (default); required; off",
  },
  {
    name: "system-prompt",
    value: "TEXT",
    help: "instructions instead of the built-in ones; @FILE reads them from a file",
  },
  {
    name: "skip-unapproved",
    help: "go on without instructions and other content of the folder that nobody has approved",
  },
  {
    name: "allow-project-hooks",
    hidden: true,
    help: "let hooks, tools and plugins of the project run, each once it is approved ('oxbow ack')",
  },
  { name: "continue", short: "c", help: "go on with the latest session of this folder" },
  { name: "resume", short: "r", value: "ID", help: "go on with a session, by its id or a piece of it" },
  { name: "wait", value: "TIME", help: "wait so long while another process has the session open: 30s, 5m" },
  {
    name: "orphan",
    value: "VERDICT",
    help: "what became of a call that was running when the session was stopped: failed, succeeded, abort",
  },
  { name: "orphan-note", value: "TEXT", help: "what the model should know about it" },
  {
    name: "store",
    value: "STORE",
    help: "where the session is kept: sqlite (encrypted, default), files, files:DIR or none",
  },
  { name: "record", value: "FILE", help: "keep the model traffic on a cassette (docs/cassettes.md)" },
  { name: "replay", value: "FILE", help: "answer from a cassette: no network, no key; a request that differs fails" },
  {
    name: "replay-speed",
    value: "N",
    help: "1: as slowly as it was recorded, 10: ten times faster (default: at once)",
  },
  { name: "cwd", value: "DIR", help: "the folder to work in (default: where you are)" },
  { name: "timeout", value: "TIME", help: "stop the run after this long: 90s, 5m, 1m30s" },
  { name: "run-timeout", value: "TIME", help: "stop a command after this long (default 5m; off: never)" },
  { name: "ollama-timeout", value: "TIME", help: "most time for one answer of a model on this machine (default: off)" },
  {
    name: "budget",
    value: "AMOUNT",
    help: "stop before this run spends more: 0.50 (US dollars), '200k tokens', or both with a comma",
  },
  {
    name: "retry-wait",
    value: "TIME",
    help: "most time to wait for a busy provider in one model call (default 5m; 0: never try again)",
  },
  { name: "stream-events", help: "print every event as one line of JSON, live" },
  { name: "json-events", help: "print the answer, then the events as lines of JSON" },
  {
    name: "output-format",
    value: "FORMAT",
    help: "text (default: the final answer on stdout, the rest on stderr), json (one object at the end), stream-json (live events)",
  },
  { name: "plain", help: "the plain line client when no prompt is given" },
  {
    name: "verbose",
    short: "v",
    help: "also show thinking, tool calls, results and token counts on stderr, with or without a terminal",
  },
  { name: "log-level", value: "LEVELS", help: "Oxbow's own log: info, or info,engine=debug" },
  { name: "log-to-stderr", help: "write Oxbow's own log to stderr too" },
  { name: "help", short: "h", help: "show this help" },
];
