import type { Flag } from "../../feature/flags.js";
import { flagsOf } from "../../feature/setting.js";
import { SETTINGS } from "../../runtime/settings/settings.js";

/** The flags of settings. */
export const SETTING_FLAGS: readonly Flag[] = flagsOf(SETTINGS);

/** Flags of `oxbow run` and of a bare prompt. */
export const RUN_FLAGS: readonly Flag[] = [
  ...SETTING_FLAGS,
  {
    name: "audio",
    only: "one prompt",
    holds: "client",
    value: "FILE",
    repeatable: true,
    help: "a WAV or MP3 file for the model (Gemini also takes AIFF, AAC, OGG and FLAC; repeatable)",
  },
  {
    name: "image",
    only: "one prompt",
    holds: "client",
    value: "FILE",
    repeatable: true,
    help: "a PNG, JPEG, GIF or WebP image for the model (repeatable)",
  },
  { name: "plain", only: "one prompt", holds: "client", help: "talk line by line instead of in the terminal client" },
  { name: "quiet-cost", only: "one prompt", holds: "client", help: "do not show what turns cost" },
  {
    name: "skip-unapproved",
    only: "one prompt",
    help: "continue without content of this folder that you have not approved",
  },
  {
    name: "allow-project-hooks",
    only: "one prompt",
    help: "run hooks, tools and plugins of the project, after you approve each ('oxbow ack')",
  },
  {
    name: "no-project-hooks",
    only: "one prompt",
    help: "leave them out this once, also where 'oxbow sources allow' lets them run",
  },
  {
    name: "init",
    only: "one prompt",
    help: "run your Setup hooks before the first prompt, with the trigger 'init'",
  },
  {
    name: "maintenance",
    only: "one prompt",
    help: "the same with the trigger 'maintenance'",
  },
  {
    name: "run",
    only: "one prompt",
    holds: "client",
    value: "SCRIPT",
    complete: "file",
    help: "run a file of slash commands and prompts, one per line ('-': standard input); stops at the first failure",
  },
  {
    name: "keep-going",
    only: "one prompt",
    holds: "client",
    help: "with --run: continue after a failure; the exit code is still that of the first one",
  },
  {
    name: "continue",
    only: "one prompt",
    holds: "client",
    short: "c",
    help: "resume the latest session of this folder",
  },
  {
    name: "resume",
    only: "one prompt",
    holds: "client",
    short: "r",
    value: "ID",
    complete: "session",
    help: "resume a session, by its id or a part of it",
  },
  {
    name: "attach",
    holds: "client",
    help: "use the running engine ('oxbow status'): a new session there, or with --continue or --resume an old one",
  },
  { name: "no-attach", holds: "client", help: "start a separate engine, even if one is already running" },
  {
    name: "listen",
    holds: "engine",
    value: "HOST:PORT",
    repeatable: true,
    help: "in a conversation: other programs also reach it over HTTP; 127.0.0.1:0 takes a free port (repeatable)",
  },
  { name: "web", holds: "client", help: "in a conversation: open the web client beside it" },
  { name: "no-listen", holds: "engine", help: "do not let other clients attach to this conversation" },
  {
    name: "wait",
    only: "one prompt",
    holds: "client",
    value: "TIME",
    help: "how long to wait while another process has the session open: 30s, 5m",
  },
  {
    name: "orphan",
    only: "one prompt",
    holds: "client",
    value: "VERDICT",
    help: "the result of a call that ran when the session was killed: failed, succeeded, abort",
  },
  {
    name: "orphan-note",
    only: "one prompt",
    holds: "client",
    value: "TEXT",
    help: "a note for the model about that call",
  },
  { name: "record", holds: "engine", value: "FILE", help: "record the model traffic (docs/testing.md)" },
  {
    name: "replay",
    holds: "engine",
    value: "FILE",
    help: "answer from a recording, without network or key; a different request fails",
  },
  {
    name: "replay-speed",
    holds: "engine",
    value: "N",
    help: "1: the recorded speed, 10: ten times faster (default: no delay)",
  },
  { name: "cwd", holds: "client", value: "DIR", help: "the folder to work in (default: the current one)" },
  { name: "stream", only: "one prompt", holds: "client", help: "write the answer as it arrives, also to a pipe" },
  { name: "stream-events", only: "one prompt", holds: "client", help: "print every event as one line of JSON, live" },
  {
    name: "json-events",
    only: "one prompt",
    holds: "client",
    help: "print the answer, then the events as lines of JSON",
  },
  {
    name: "output-format",
    only: "one prompt",
    holds: "client",
    value: "FORMAT",
    choices: ["text", "json", "stream-json"],
    help: "text (default: the final answer on stdout, the rest on stderr), json (one object at the end), stream-json (live events)",
  },
  {
    name: "verbose",
    only: "one prompt",
    holds: "client",
    short: "v",
    help: "also show thinking, tool calls, results and token counts on stderr",
  },
  { name: "log-to-stderr", holds: "engine", help: "write Oxbow's own log to stderr too" },
  { name: "help", only: "one prompt", holds: "client", short: "h", help: "show this help" },
];

/** Flags of the commands that run sessions for another program. */
export const SERVED_RUN_FLAGS = RUN_FLAGS.filter(({ only }) => only !== "one prompt");
