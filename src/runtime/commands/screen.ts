/** Commands of the terminal client: they open what only a screen can show. */
import { STATUS_PARTS } from "../../base/status-parts.js";
import type { CommandPlace, CommandSpec } from "../../feature/command.js";

const SCREEN: readonly CommandPlace[] = ["in a client", "during a turn", "between turns"];

export const LOGIN: CommandSpec = {
  name: "login",
  summary: "sign in to a provider, or store its key",
  arguments: [{ name: "PROVIDER", kind: "text", optional: true, complete: "provider" }],
  places: ["in a client", "between turns"],
};

export const SIDEBAR: CommandSpec = {
  name: "sidebar",
  summary: "show the sessions of this folder, the rules of this session and the instructions (also Alt-S)",
  reaches: "session",
  places: SCREEN,
};

export const THEME: CommandSpec = {
  name: "theme",
  summary: "choose the colours",
  arguments: [{ name: "NAME", kind: "text", optional: true }],
  reaches: "session",
  places: SCREEN,
};

export const STATUSLINE: CommandSpec = {
  name: "statusline",
  summary: "choose the parts of the line below the input in their order, or !COMMAND of yours; all: the usual ones",
  arguments: [{ name: "PARTS", kind: "text", optional: true, rest: "list", complete: [...STATUS_PARTS, "all"] }],
  reaches: "session",
  places: SCREEN,
};

export const SETTINGS: CommandSpec = {
  name: "settings",
  aliases: ["config"],
  summary: "show every setting with its value, where it comes from and what it does, and change it",
  reaches: "user",
  places: SCREEN,
};

export const KEYS: CommandSpec = {
  name: "keys",
  aliases: ["hotkeys"],
  summary: "show all keys (also ?)",
  reaches: "session",
  places: SCREEN,
};

export const TRANSCRIPT: CommandSpec = {
  name: "transcript",
  summary: "show the whole conversation with all output (also Ctrl-O)",
  reaches: "session",
  places: SCREEN,
};

export const APPROVE: CommandSpec = {
  name: "approve",
  summary: "show files of this folder that wait for your approval, and decide on them (also Alt-A)",
  places: SCREEN,
};

export const COPY: CommandSpec = {
  name: "copy",
  summary: "copy the last answer as the model wrote it; code: only its last code block",
  arguments: [{ name: "WHAT", kind: "choice", complete: ["code"], optional: true }],
  reaches: "session",
  places: SCREEN,
};

export const REWIND: CommandSpec = {
  name: "rewind",
  summary: "go back to before an earlier prompt, in a copy of the conversation (also Esc twice)",
  reaches: "session",
  places: ["in a client", "between turns"],
};

export const SCREEN_COMMANDS: readonly CommandSpec[] = [
  ...[APPROVE, COPY, LOGIN, SIDEBAR],
  ...[SETTINGS, THEME, STATUSLINE, KEYS, TRANSCRIPT, REWIND],
];
