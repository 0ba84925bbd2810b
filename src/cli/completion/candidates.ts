/** The candidates for the last word of a command line. */
import type { CommandSpec, CompletionSource } from "../../feature/command.js";
import type { Flag } from "../../feature/flags.js";

export interface Candidate {
  readonly value: string;
  readonly about?: string;
}

/** `:files` and `:folders` leave the completion of paths to the shell. */
export type Candidates = readonly Candidate[] | ":files" | ":folders";

export interface CompletionWorld {
  /** The commands of `oxbow`. */
  readonly commands: readonly {
    readonly name: string;
    readonly aliases?: readonly string[];
    readonly summary: string;
  }[];
  /** Slash commands, which `oxbow "/NAME"` takes. */
  readonly slashNames: () => Promise<readonly Candidate[]>;
  specsOf(name: string): Promise<readonly CommandSpec[]>;
  valuesOf(source: CompletionSource): Promise<Candidates>;
}

/** `words`: what stands after `oxbow`; the last one is being typed. */
export async function candidatesFor(words: readonly string[], world: CompletionWorld): Promise<Candidates> {
  const typed = words.at(-1) ?? "";
  const [first = "", ...others] = words.slice(0, -1);
  const found = await unfiltered({ typed, first, others, isFirst: words.length < 2 }, world);
  if (typeof found === "string") return found;
  const seen = new Set<string>();
  return found.filter(({ value }) => {
    const isNew = !seen.has(value);
    seen.add(value);
    return isNew && value.startsWith(typed) && isHarmless(value);
  });
}

/** Some names come from files and servers: none may contain shell syntax. */
function isHarmless(value: string): boolean {
  return /^[\w@%+,./:=-]+$/.test(value);
}

interface Line {
  readonly typed: string;
  readonly first: string;
  /** Between the first word and the one being typed. */
  readonly others: readonly string[];
  readonly isFirst: boolean;
}

async function unfiltered({ typed, first, others, isFirst }: Line, world: CompletionWorld): Promise<Candidates> {
  if (isFirst && typed.startsWith("/")) return world.slashNames();
  if (isFirst && !typed.startsWith("-")) {
    return world.commands.map(({ name, summary }) => ({ value: name, about: summary }));
  }
  const isCommand = world.commands.some(({ name, aliases }) => name === first || aliases?.includes(first));
  const specs = await world.specsOf(isCommand ? first : "run");
  const before = isCommand || isFirst ? others : [first, ...others];
  const named = resolve(specs, isCommand ? [first, ...leadingWords(before)] : ["run"]);
  const flags = named.own.flatMap((spec) => [...(spec.flags ?? []), ...(spec.shellFlags ?? [])]);
  const waiting = flagBefore(before, flags);
  if (waiting !== undefined) return valuesOfFlag(waiting, world);
  const [, name, equals] = /^--([^=]+)(=)/.exec(typed) ?? [];
  if (equals !== undefined) {
    const values = await valuesOfFlag(flags.find((flag) => flag.name === name) ?? NO_FLAG, world);
    return typeof values === "string" ? values : values.map((each) => ({ ...each, value: `--${name}=${each.value}` }));
  }
  const plain = plainWords(before, flags);
  const { own, used } = resolve(specs, isCommand ? [first, ...plain] : ["run"]);
  if (typed.startsWith("-")) return flagNames(own);
  return next(specs, { own, given: plain.slice(used - 1), words: isCommand ? [first, ...plain] : [] }, world);
}

function leadingWords(words: readonly string[]): readonly string[] {
  const flagAt = words.findIndex((word) => word.startsWith("-"));
  return flagAt === -1 ? words : words.slice(0, flagAt);
}

const NO_FLAG: Flag = { name: "", help: "" };

/** The flag whose value is being typed. */
function flagBefore(words: readonly string[], flags: readonly Flag[]): Flag | undefined {
  const flag = flagOf(words.at(-1), flags);
  return flag?.value === undefined ? undefined : flag;
}

function flagOf(word: string | undefined, flags: readonly Flag[]): Flag | undefined {
  return flags.find(({ name, short }) => word === `--${name}` || (short !== undefined && word === `-${short}`));
}

async function valuesOfFlag({ choices, complete, value }: Flag, world: CompletionWorld): Promise<Candidates> {
  if (choices !== undefined) return choices.map((each) => ({ value: each }));
  if (complete !== undefined) return world.valuesOf(complete);
  return value === "FILE" ? ":files" : value === "DIR" ? ":folders" : [];
}

/** The words that are neither flags nor values of flags. */
function plainWords(words: readonly string[], flags: readonly Flag[]): readonly string[] {
  return words.filter((word, at) => {
    if (word.startsWith("-")) return false;
    return flagOf(words[at - 1], flags)?.value === undefined;
  });
}

/** The command that the words name: the longest name wins. Without one, all of them are possible. */
function resolve(specs: readonly CommandSpec[], words: readonly string[]) {
  for (let used = Math.min(3, words.length); used > 0; used--) {
    const name = words.slice(0, used).join(":");
    const own = specs.filter((spec) => spec.name === name || spec.aliases?.includes(name));
    if (own.length > 0) return { own, used };
  }
  return { own: specs, used: 1 };
}

function flagNames(specs: readonly CommandSpec[]): readonly Candidate[] {
  return specs
    .flatMap((spec) => [...(spec.flags ?? []), ...(spec.shellFlags ?? [])])
    .filter(({ hidden }) => hidden !== true)
    .map(({ name, help }) => ({ value: `--${name}`, about: help }));
}

/** The actions of a namespace, and the values of the next argument. */
async function next(
  specs: readonly CommandSpec[],
  place: { readonly own: readonly CommandSpec[]; readonly given: readonly string[]; readonly words: readonly string[] },
  world: CompletionWorld,
): Promise<Candidates> {
  const prefix = place.words.map((word) => `${word}:`).join("");
  const actions = specs.flatMap(({ name, aliases = [], summary }) =>
    [name, ...aliases]
      .filter((each) => prefix !== "" && each.startsWith(prefix))
      .map((each) => ({ value: each.slice(prefix.length).split(":")[0] ?? "", about: summary })),
  );
  const [only] = place.own;
  if (only === undefined || place.own.length > 1) return actions;
  const wanted = only.arguments ?? [];
  const last = wanted.at(-1);
  const argument = wanted[place.given.length] ?? (last?.rest === "list" ? last : undefined);
  if (argument?.complete === undefined) return argument?.kind === "path" ? ":files" : actions;
  const values =
    typeof argument.complete === "string"
      ? await world.valuesOf(argument.complete)
      : argument.complete.map((value) => ({ value }));
  if (typeof values === "string") return actions.length > 0 ? actions : values;
  return [...actions, ...values];
}
