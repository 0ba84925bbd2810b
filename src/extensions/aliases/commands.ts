/**
 * A command for each alias.
 *
 * 1. An alias never takes a name that a command or a namespace has.
 * 2. It runs with the rights of its caller: commands for people stay for people.
 * 3. An alias never stands for a command about permissions: a reader of `/x` has to see that it widens nothing.
 * 4. An alias of a project never stands for a command that only people may use.
 */
import { shorten } from "../../base/cap-text.js";
import type { ExtensionFile } from "../../base/extension-files.js";
import { wordsOf } from "../../base/shell-word.js";
import {
  type Command,
  type CommandSpec,
  EVERYONE,
  type Expansion,
  isAboutPermissions,
  mayUse,
  refuse,
} from "../../feature/command.js";
import type { FeatureContext, KnownCommands } from "../../feature/part.js";
import { type Alias, readAliases } from "./read-aliases.js";

export interface AliasPlace {
  /** All commands except aliases. */
  readonly known: KnownCommands;
  readonly report: (problem: string) => void;
  readonly asPrompt: FeatureContext["asPrompt"];
}

const SLASH = { surface: "slash" } as const;

export async function aliasCommands(
  files: readonly ExtensionFile[],
  { known, report, asPrompt }: AliasPlace,
): Promise<readonly Command[]> {
  const { aliases, problems } = await readAliases(files);
  const byName = new Map(aliases.map((alias) => [alias.name, alias]));
  for (const problem of problems) report(problem);
  return aliases.flatMap((alias) => {
    const problem = problemOf(alias, byName, known);
    if (problem === undefined) return [aliasCommand(alias, asPrompt)];
    report(`${alias.path}: alias "${alias.name}" is left out: ${problem}`);
    return [];
  });
}

function problemOf(alias: Alias, all: ReadonlyMap<string, Alias>, known: KnownCommands): string | undefined {
  const [first = alias.name] = alias.name.toLowerCase().split(":");
  if (known.find(alias.name) !== undefined || known.names().includes(first)) {
    return `/${alias.name} is a command already.`;
  }
  const cycle = cycleOf(alias, all);
  if (cycle !== undefined) return `it stands for itself: ${cycle.map((name) => `/${name}`).join(" → ")}.`;
  return targetProblem(alias, all, known);
}

function targetProblem(alias: Alias, all: ReadonlyMap<string, Alias>, known: KnownCommands): string | undefined {
  const target = commandOf(alias, all, known);
  if (target === undefined) return undefined;
  if (target.places.includes("in a client")) return `/${target.name} is a command of the terminal itself.`;
  if (isAboutPermissions(target)) return `/${target.name} is about permissions, and an alias cannot stand for it.`;
  if (alias.scope === "project" && !mayUse(target, "agents")) {
    return `a project cannot give a name to /${target.name}, which only people may use.`;
  }
  return undefined;
}

/** The command at the end of the chain; undefined for a prompt, and for a command that does not exist yet. */
function commandOf({ target }: Alias, all: ReadonlyMap<string, Alias>, known: KnownCommands): CommandSpec | undefined {
  const name = targetName(target);
  if (name === undefined) return undefined;
  const next = all.get(name);
  if (next !== undefined) return commandOf(next, all, known);
  const words = wordsOf(target.slice(1)).map(({ value }) => value);
  const found = known.resolve(words.slice(0, 3), SLASH);
  return "failure" in found ? undefined : found.command;
}

function aliasCommand(alias: Alias, asPrompt: AliasPlace["asPrompt"]): Command {
  const { name, target, description, scope } = alias;
  const isPrompt = !target.startsWith("/");
  const stands = shorten(target, 60);
  return {
    name,
    summary: `${description === undefined ? "" : `${description}: `}${stands.replaceAll("\n", " ")} (alias, ${scope})`,
    usage: `/${name}${/\$[@*1-9A]/.test(target) ? " ARGUMENTS" : " [ARGUMENTS]"}`,
    arguments: [{ name: "ARGUMENTS", kind: "line", optional: true, rest: "text" }],
    reaches: "session",
    users: EVERYONE,
    places: isPrompt ? ["between turns"] : ["during a turn", "between turns"],
    expand: (line) => {
      const expanded = expandAlias(alias, { line, words: wordsOf(line).map(({ value }) => value) });
      if ("problem" in expanded) return refuse(expanded.problem);
      const made = { text: expanded.text, byProject: scope === "project" };
      if (!isPrompt) return { kind: "command", ...made };
      const review: Expansion["review"] = ({ signal }, expand) =>
        asPrompt({ name, line, source: scope, signal }, expand);
      return { kind: "prompt", ...made, review };
    },
    run: () => refuse(`/${name} is an alias.`),
  };
}

/** `$1`, `$@`, `$*`, `$ARGUMENTS`; `$$` is a dollar sign. */
const PLACEHOLDER = /\$(?:(\$)|([1-9])|([@*]|ARGUMENTS\b))/g;

interface TypedArguments {
  /** As they were typed. */
  readonly line: string;
  readonly words: readonly string[];
}

/** Without a placeholder the arguments follow the text, as in a shell. */
function expandAlias(
  { name, target }: Pick<Alias, "name" | "target">,
  { line, words }: TypedArguments,
): { readonly text: string } | { readonly problem: string } {
  const needed = neededArguments(target);
  if (words.length < needed) {
    const count = `${needed} argument${needed === 1 ? "" : "s"}`;
    return { problem: `/${name} needs ${count}, because it stands for: ${target}` };
  }
  let isUsed = false;
  const text = target.replaceAll(PLACEHOLDER, (_whole, dollar?: string, number?: string) => {
    if (dollar !== undefined) return "$";
    isUsed = true;
    return number === undefined ? line : (words[Number(number) - 1] ?? "");
  });
  return { text: isUsed || line === "" ? text : `${text} ${line}` };
}

function neededArguments(target: string): number {
  const numbers = [...target.matchAll(PLACEHOLDER)].map(([, , number]) => Number(number ?? 0));
  return Math.max(0, ...numbers);
}

/** The name of the command that an alias stands for, as typed: `skills:pdf`; undefined for a prompt. */
function targetName(target: string): string | undefined {
  return /^\/([^\s/$]+)(?:\s|$)/u.exec(target)?.[1];
}

/** `/a` stands for `/b`, which stands for `/a`: returns the names in the cycle, or undefined. */
function cycleOf(alias: Alias, all: ReadonlyMap<string, Alias>): readonly string[] | undefined {
  const names = [alias.name];
  for (let next = all.get(targetName(alias.target) ?? ""); next !== undefined; ) {
    if (names.includes(next.name)) return [...names, next.name];
    names.push(next.name);
    next = all.get(targetName(next.target) ?? "");
  }
  return undefined;
}
