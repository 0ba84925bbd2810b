/** Settings of tools: their limits, their folders, the web, and what they get and give. */

import { limit, names, wholeNumber, words } from "../base/read-value.js";
import { UsageError } from "../base/usage-error.js";
import {
  choice,
  type DeclaredSetting,
  type Setting,
  type SettingReader,
  setting,
  shownTime,
  tables,
} from "../feature/setting.js";
import type { EnvironmentPolicy } from "./child-environment.js";

/** The provider of the model if it can, an engine with a key, or the address of a SearXNG server. */
export type WebSearchChoice = "provider" | "off" | "brave" | "tavily" | URL;

export const toolSettings = {
  run_timeout: setting<number | undefined>({
    about: "the time limit of each command",
    guide: "terminal",
    flag: { value: "TIME", help: "stop a command after this long (default 5m; off: never)" },
    fallback: 5 * 60_000,
    read: limit,
    project: "any",
    show: shownTime,
  }),
  output_bytes: setting({
    about: "the most bytes of saved command output of a session",
    guide: "sessions",
    fallback: 256 * 1024 * 1024,
    read: wholeNumber,
  }),
  extra_roots: setting({
    about: "folders that the tools use like the workspace",
    guide: "permissions",
    fallback: [],
    read: absoluteFolders,
  }),
  add_dir: {
    access: "never",
    flags: () => [
      {
        name: "add-dir",
        value: "DIR",
        repeatable: true,
        complete: "folder",
        help: "a further folder that this session uses like the workspace (repeatable)",
      },
    ],
    show: (value) => value.join(", ") || "(none)",
    take: (from) => {
      const value = from.values("add-dir");
      return { value, origin: value.length > 0 ? "--add-dir" : "default" };
    },
  } satisfies DeclaredSetting<readonly string[]>,
  untrusted_results: choice(["wrap", "plain"], {
    about: "wrap: mark results of tools as text from outside; plain: do not",
    guide: "permissions",
    fallback: "wrap",
    project: (theirs) => theirs === "wrap",
  }),
  environment: {
    ...tables({ about: "[environment]: the variables that commands of the model get", guide: "sandbox" }),
    take: readEnvironment,
    show: ({ inherit }: EnvironmentPolicy) => inherit,
  },
  web_hosts: setting({ about: "private hosts that web_fetch may reach", guide: "sandbox", fallback: [], read: words }),
  web_names: choice(["check", "proxy"], {
    about: "who looks up the names of pages behind a proxy: check (Oxbow) or proxy",
    guide: "sandbox",
    fallback: "check",
  }),
  web_search: setting({
    about: "who answers web_search: provider, brave, tavily, the address of a SearXNG server, or off",
    guide: "sandbox",
    fallback: "provider",
    read: webSearch,
  }),
};

function absoluteFolders(text: string): readonly string[] {
  const folders = names(text);
  // Never the root of the file system.
  const wrong = folders.find((folder) => !/^(?:~?\/|[A-Za-z]:)./.test(folder));
  if (wrong !== undefined) throw new UsageError(`expected absolute paths of folders, got "${wrong}".`);
  return folders;
}

function webSearch(text: string): WebSearchChoice {
  const [choice] = (["provider", "off", "brave", "tavily"] as const).filter((each) => each === text);
  if (choice !== undefined) return choice;
  const address = /^(?:searxng[:\s]+)?(https?:\/\/.+)$/.exec(text)?.[1];
  if (address !== undefined && URL.canParse(address)) return new URL(address);
  throw new UsageError(`expected provider, brave, tavily, the address of a SearXNG server or off, got "${text}".`);
}

const INHERIT: readonly EnvironmentPolicy["inherit"][] = ["filtered", "core", "none", "all"];

/** Reads `inherit`, `include`, `exclude`, and `set` with values. */
function readEnvironment(from: SettingReader, key: string): Setting<EnvironmentPolicy> {
  const written = from.tables(key);
  const { inherit = "filtered", include = [], exclude = [], set = {}, ...others } = written.value ?? {};
  const wrong = (what: string) => new UsageError(`${written.origin}: ${what}`);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw wrong(`expected inherit, include, exclude or set, got "${unknown}".`);
  const chosen = INHERIT.find((each) => each === inherit);
  if (chosen === undefined) throw wrong(`inherit: expected ${INHERIT.join(", ")}, got "${String(inherit)}".`);
  if (!isTexts(include) || !isTexts(exclude)) throw wrong('include and exclude are lists of names, such as ["AWS_*"].');
  if (typeof set !== "object" || set === null || !isTexts(Object.values(set))) {
    throw wrong('set is a table of texts, such as { NODE_ENV = "test" }.');
  }
  const value = { inherit: chosen, include, exclude, set: set as Readonly<Record<string, string>> };
  return { value, origin: written.origin };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}
