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
import { wordsOf } from "../../commands/arguments.js";
import { type Command, type CommandSpec, type Expansion, isAboutPermissions, refuse } from "../../commands/command.js";
import { cycleOf, expandAlias, targetName } from "../../extensions/aliases/expand-alias.js";
import { type Alias, readAliases } from "../../extensions/aliases/read-aliases.js";
import type { KnownCommands } from "../../feature/part.js";
import type { SessionEvents } from "../parts/event-hooks.js";
import { hookedPrompt } from "./prompt-expansion.js";

export interface AliasPlace {
  /** All commands except aliases. */
  readonly known: KnownCommands;
  readonly report: (problem: string) => void;
  readonly events: SessionEvents;
}

const SLASH = { surface: "slash" } as const;

export async function aliasCommands(
  files: readonly ExtensionFile[],
  { known, report, events }: AliasPlace,
): Promise<readonly Command[]> {
  const { aliases, problems } = await readAliases(files);
  const byName = new Map(aliases.map((alias) => [alias.name, alias]));
  for (const problem of problems) report(problem);
  return aliases.flatMap((alias) => {
    const problem = problemOf(alias, byName, known);
    if (problem === undefined) return [aliasCommand(alias, events)];
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
  if (alias.scope === "project" && !target.users.includes("agents")) {
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

function aliasCommand(alias: Alias, events: SessionEvents): Command {
  const { name, target, description, scope } = alias;
  const isPrompt = !target.startsWith("/");
  const stands = shorten(target, 60);
  return {
    name,
    summary: `${description === undefined ? "" : `${description}: `}${stands.replaceAll("\n", " ")} (alias, ${scope})`,
    usage: `/${name}${/\$[@*1-9A]/.test(target) ? " ARGUMENTS" : " [ARGUMENTS]"}`,
    arguments: [{ name: "ARGUMENTS", kind: "line", optional: true, rest: "text" }],
    reaches: "session",
    users: ["people", "agents"],
    places: isPrompt ? ["between turns"] : ["during a turn", "between turns"],
    expand: (line) => {
      const expanded = expandAlias(alias, { line, words: wordsOf(line).map(({ value }) => value) });
      if ("problem" in expanded) return refuse(expanded.problem);
      const made = { text: expanded.text, byProject: scope === "project" };
      if (!isPrompt) return { kind: "command", ...made };
      const review: Expansion["review"] = (context, expand) =>
        hookedPrompt({ name, line, source: scope, signal: context.signal }, { events, expand });
      return { kind: "prompt", ...made, review };
    },
    run: () => refuse(`/${name} is an alias.`),
  };
}
