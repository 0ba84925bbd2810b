/** Settings that belong to no feature: of the turn, the profile, the network, the screen and the engine. */
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { duration, durationOrOff, onOrOff, wholeNumber } from "../../base/read-value.js";
import { readStatusLine, STATUS_PARTS, type StatusLine } from "../../base/status-parts.js";
import { UsageError } from "../../base/usage-error.js";
import { choice, type DeclaredSetting, setting, shown, shownTime, tables } from "../../feature/setting.js";
import { type LogLevels, parseLogLevels } from "../../system/log.js";
import { readToolChoice, TOOL_SETS, type ToolChoice } from "./tool-choice.js";

const toolSets: DeclaredSetting<ToolChoice> = {
  about: "the tools that the model gets, by set",
  guide: "settings",
  access: "stricter",
  flags: () => [
    {
      name: "tool-set",
      value: "SET[,SET]",
      repeatable: true,
      help: `tools to offer: ${TOOL_SETS.join(", ")}, or a set of your own from [tool_sets] (repeatable)`,
    },
  ],
  show: ({ names }) => names.join(","),
  take: readToolChoice,
};

/** Its value is the profile in use: `choose-profile.ts` reads it before any other setting. */
const profile: DeclaredSetting<string> = {
  about: "the profile that is always used",
  guide: "settings",
  access: "stricter",
  flags: (name) => [
    {
      name,
      value: "NAME",
      complete: "profile",
      help: "settings to use: the name of a profile ('oxbow profiles'), or the path of a TOML file",
    },
  ],
  variable: {
    name: "OXBOW_PROFILE",
    meaning: "the profile to use: a name, or the path of a TOML file (docs/settings.md)",
  },
  show: shown,
  take: (from, key) => {
    const config = join(from.config, "config.toml");
    for (const layer of from.written(key, "stricter").filter(({ path }) => path !== config))
      from.refuse(layer, key, "only your config.toml, --profile and OXBOW_PROFILE choose the profile");
    return { value: "default", origin: "default" };
  },
};

const INFO: LogLevels = { standard: "info", byComponent: new Map() };

export const turnSettings = {
  profile,
  tool_sets: toolSets,
  max_iterations: setting({
    about: "the most model calls in one turn",
    guide: "settings",
    flag: { value: "N", help: "limit of model calls in the turn (default 100)" },
    variable: { name: "OXBOW_MAX_TURNS", meaning: "limit of model calls in one turn (default 100)" },
    fallback: 100,
    read: wholeNumber,
    project: (theirs, yours) => theirs <= yours,
  }),
  timeout: setting({
    about: "the time limit of a turn",
    guide: "settings",
    flag: { value: "TIME", help: "stop the run after this long: 90s, 5m, 1m30s" },
    read: duration,
    project: (theirs, yours) => yours === undefined || (theirs !== undefined && theirs <= yours),
    show: shownTime,
  }),
};

export const programSettings = {
  /** For http and https requests, if no variable sets one. */
  proxy: setting({
    about: "the proxy of model requests and web_fetch",
    guide: "install",
    read: String,
    // The login in the address is only for the proxy.
    show: (value) => shown(value?.replace(/^([a-z]+:\/\/)?.*@/i, "$1")),
  }),
  no_proxy: setting({ about: "hosts to reach without the proxy", guide: "install", read: String }),
  ca_file: setting({ about: "a file with more certificate authorities", guide: "install", read: certificateFile }),
  spinner: choice(["verses", "plain"], {
    about: "verses, or plain: only the time",
    guide: "terminal",
    holds: "client",
    fallback: "verses",
  }),
  screen_reader: setting({
    about: "true: only finished text is printed",
    guide: "terminal",
    holds: "client",
    fallback: false,
    read: onOrOff,
  }),
  theme: choice(["dark", "light", "high-contrast", "plain"], {
    about: "dark, light, high-contrast or plain",
    guide: "terminal",
    holds: "client",
  }),
  status_line: setting({
    about:
      "the parts of the line below the input in their order: model cost title; or !COMMAND, whose first line is shown",
    guide: "terminal",
    holds: "client",
    read: statusLine,
    show: (value) => (value !== undefined && "command" in value ? `!${value.command}` : shown(value)),
  }),
  alerts: choice(["both", "bell", "notification", "none"], {
    about: "how the terminal client calls you: both (bell and notification), bell, notification or none",
    guide: "terminal",
    holds: "client",
    fallback: "both",
  }),
  wrap: choice(["terminal", "words"], {
    about: "words: text on the screen breaks between words; terminal: it stays one line when you copy it or resize",
    guide: "terminal",
    holds: "client",
    fallback: "terminal",
  }),
  vim: setting({
    about: "true: the draft has the keys of vi",
    guide: "terminal",
    holds: "client",
    fallback: false,
    read: onOrOff,
  }),
  keys: tables({ about: "[keys]: keys of the terminal client", guide: "terminal", holds: "client" }),
  /** The engine of a home ends when no client has followed a session and no turn has run for this time. */
  engine_idle_timeout: setting<number | undefined>({
    about: "when the engine of the terminals ends by itself",
    guide: "terminal",
    holds: "engine",
    fallback: 10 * 60_000,
    read: durationOrOff,
    show: shownTime,
  }),
  log: setting({
    about: "levels of Oxbow's own log: info, or info,engine=debug",
    guide: "service",
    holds: "engine",
    flag: { name: "log-level", value: "LEVELS", help: "Oxbow's own log: info, or info,engine=debug" },
    variable: { name: "OXBOW_LOG", meaning: "levels of Oxbow's own log: info, or info,engine=debug" },
    fallback: INFO,
    read: logLevels,
    show: ({ standard, byComponent }) =>
      [standard, ...[...byComponent].map(([component, level]) => `${component}=${level}`)].join(","),
  }),
};

function certificateFile(text: string): string {
  const path = text.replace(/^~(?=\/)/, homedir());
  if (isAbsolute(path)) return path;
  throw new UsageError(`expected the absolute path of a file, got "${text}".`);
}

function statusLine(text: string): StatusLine {
  const parts = readStatusLine(text);
  if (!("unknown" in parts)) return parts;
  throw new UsageError(`expected ${STATUS_PARTS.join(", ")} or !COMMAND, got "${parts.unknown}".`);
}

function logLevels(text: string): LogLevels {
  const levels = parseLogLevels(text);
  if ("problem" in levels) throw new UsageError(levels.problem);
  return levels;
}
