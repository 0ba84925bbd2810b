/** Flags as data: one table gives the parser its options and the help its lines, so the two cannot disagree. */
import { parseArgs } from "node:util";
import { nearest } from "../base/nearest.js";
import { UsageError } from "../base/usage-error.js";

export interface Flag {
  readonly name: string;
  readonly short?: string;
  /** Absent for a switch; otherwise the placeholder of the value in the help. */
  readonly value?: string;
  readonly repeatable?: true;
  /** Says what it holds for, if a conversation is in an engine that other terminals use too: the session (default), this client, or the engine. */
  readonly holds?: "client" | "engine";
  /** It concerns one prompt or the screen: commands that run sessions for another program do not take it. */
  readonly only?: "one prompt";
  /** With it a command of the session reaches beyond the session, as in `CommandReach`. */
  readonly reaches?: "user";
  /** Accepted but not shown: its feature does not exist yet. */
  readonly hidden?: true;
  /** Its values, for completion. */
  readonly choices?: readonly string[];
  readonly complete?: "file" | "folder" | "model" | "profile" | "provider" | "route" | "session";
  readonly help: string;
}

export interface ParsedFlags {
  readonly words: readonly string[];
  has(name: string): boolean;
  text(name: string): string | undefined;
  list(name: string): readonly string[];
}

export function parseFlags(flags: readonly Flag[], args: readonly string[], command: string): ParsedFlags {
  const options: Record<string, { type: "string" | "boolean"; short?: string; multiple?: boolean }> = {};
  for (const flag of flags) {
    options[flag.name] = {
      type: flag.value === undefined ? "boolean" : "string",
      ...(flag.short !== undefined && { short: flag.short }),
      ...(flag.repeatable && { multiple: true }),
    };
  }
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({ args: withNegatives(args, options), options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(explain(error, flags, command));
  }
  const values = parsed.values as Record<string, string | boolean | string[] | undefined>;
  return {
    words: parsed.positionals,
    has: (name) => values[name] !== undefined,
    text: (name) => {
      const value = values[name];
      return typeof value === "string" ? value : undefined;
    },
    list: (name) => {
      const value = values[name];
      return Array.isArray(value) ? value : [];
    },
  };
}

/** `--min -1`: the number is the value of the flag, not a flag. */
function withNegatives(args: readonly string[], options: Readonly<Record<string, { type: string }>>): string[] {
  const joined: string[] = [];
  for (const word of args) {
    const before = joined.at(-1) ?? "";
    const takesIt = /^-\d+(\.\d+)?$/.test(word) && options[before.replace(/^--/, "")]?.type === "string";
    if (takesIt && !joined.includes("--")) joined[joined.length - 1] = `${before}=${word}`;
    else joined.push(word);
  }
  return joined;
}

function explain(error: unknown, flags: readonly Flag[], command: string): string {
  const message = error instanceof Error ? error.message : String(error);
  const see = `See 'oxbow ${command === "" ? "--help" : `${command} --help`}'.`;
  const unknown = /Unknown option '(-{1,2}[^']*)'/.exec(message)?.[1];
  if (unknown !== undefined) {
    const near = nearest(
      unknown.replace(/^-+/, ""),
      flags.map((flag) => flag.name),
    );
    return `Unknown flag ${unknown}.${near === undefined ? "" : ` Did you mean --${near}?`} ${see}`;
  }
  const missing = /Option '([^']*)' argument (missing|is ambiguous)/.exec(message)?.[1];
  if (missing !== undefined) return `${missing.replace(/^-\w, /, "").split(" ")[0]} needs a value. ${see}`;
  const noValue = /Option '([^']*)' does not take an argument/.exec(message)?.[1];
  if (noValue !== undefined) return `${noValue} takes no value. ${see}`;
  return `${message.split(". ")[0]}. ${see}`;
}

export function helpLines(all: readonly Flag[]): string {
  const flags = all.filter((flag) => !flag.hidden);
  const left = flags.map((flag) => {
    const short = flag.short === undefined ? "" : `-${flag.short}, `;
    return `${short}--${flag.name}${flag.value === undefined ? "" : ` ${flag.value}`}`;
  });
  const width = Math.max(...left.map((text) => text.length));
  return flags.map((flag, index) => `  ${(left[index] ?? "").padEnd(width)}  ${flag.help}`).join("\n");
}
