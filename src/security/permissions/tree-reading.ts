/** Describes what a read-only command does with its folders and globs, by its text; in doubt, more. */
import { namePattern, type TextPattern } from "../../base/star-pattern.js";
import { optionSets, readArguments } from "../shell/arguments.js";
import { READ_ONLY_PROGRAMS } from "../shell/programs/table.js";
import type { SimpleCommand, Word } from "../shell/syntax.js";
import { fixedValue } from "../shell/word-values.js";
import { programName, unwrapQuietly } from "../shell/wrappers.js";

export interface TreeReading {
  /** It shows what is in files, and not only their names and sizes. */
  readonly content: boolean;
  /** It goes into folders. */
  readonly recursive: boolean;
  /** It follows links that it finds there. */
  readonly follows: boolean;
  /** Also files whose names begin with a dot. */
  readonly hidden: boolean;
  /** Names of files that it is limited to; empty for all. */
  readonly only: readonly TextPattern[];
  /** Its globs find names that begin with a dot (`shopt -s dotglob`). */
  readonly dotGlobs?: boolean;
}

const set = (list: string) => new Set(list.split(" "));

/** Programs that show facts about files, not their content. */
const NAMES_ONLY = set(
  "ls find fd fdfind tree du df stat file realpath readlink basename dirname echo printf test [ cd wc which type pwd true false :",
);
/** Kinds of files that hold no secrets by their name, as ripgrep calls them. */
const HARMLESS_TYPES: Readonly<Record<string, string>> = Object.fromEntries(
  "ts js py rust go java c cpp css html md ruby php swift kotlin scala lua".split(" ").map((type) => [type, type]),
);

export function readingOf(command: SimpleCommand): TreeReading {
  const inner = unwrapQuietly(command.words);
  const words = typeof inner === "string" ? command.words : inner;
  const name = programName(words)?.split("/").at(-1) ?? "";
  const values = words.slice(1).map((word) => fixedValue(word) ?? "");
  const plain = { content: !NAMES_ONLY.has(name), recursive: false, follows: false, hidden: true, only: [] };
  const read = Object.hasOwn(READERS, name) ? READERS[name]?.(new Options(values)) : undefined;
  return { ...plain, ...read };
}

/** The words that may name files and folders. */
export function operandWords(command: SimpleCommand): readonly Word[] {
  return readOperands(command).words;
}

/** Also whether each of the words is sure to be a path: a pattern that is taken for one must not count as a missing file. */
export function readOperands(command: SimpleCommand): { readonly words: readonly Word[]; readonly arePaths: boolean } {
  const inner = unwrapQuietly(command.words);
  const [first, ...rest] = typeof inner === "string" ? command.words : inner;
  const name = first === undefined ? undefined : fixedValue(first)?.split("/").at(-1);
  if (name === "find") return { words: startsOfFind(rest), arePaths: true };
  const rules = name !== undefined && Object.hasOwn(READ_ONLY_PROGRAMS, name) ? READ_ONLY_PROGRAMS[name] : undefined;
  const read = rules === undefined || rules.unlike || rules.anyText ? undefined : readArguments(rest, rules);
  if (rules === undefined || read === undefined || typeof read === "string") return { words: rest, arePaths: false };
  const { patterns } = optionSets(rules);
  const arePaths = rules.operands === "pattern, files";
  const isFirstPattern = arePaths && !read.options.some((one) => patterns.has(one.name));
  return { words: read.operands.slice(isFirstPattern ? 1 : 0).map(({ word }) => word), arePaths };
}

function startsOfFind(words: readonly Word[]): readonly Word[] {
  const from = words.findIndex((word) => !/^-[LPH]$/.test(word.text));
  const rest = from < 0 ? [] : words.slice(from);
  const end = rest.findIndex((word) => /^[-!(),]/.test(fixedValue(word) ?? ""));
  return end < 0 ? rest : rest.slice(0, end);
}

/** Of `xargs -0 cat` behind a command that finds files: the program that opens a passed link follows it. */
export function handedReading(command: SimpleCommand, finder: SimpleCommand): TreeReading {
  const at = command.words.findIndex((word, index) => index > 0 && !/^(-|\d+$)/.test(fixedValue(word) ?? "-"));
  const handed = readingOf({ ...command, words: command.words.slice(Math.max(at, 0)) });
  const found = readingOf(finder);
  const isFind = programName(finder.words) === "find";
  const only = isFind ? namesOfFind(finder) : found.only;
  return { content: handed.content, recursive: true, follows: true, hidden: isFind || found.hidden, only };
}

class Options {
  readonly values: readonly string[];

  constructor(values: readonly string[]) {
    this.values = values;
  }

  /** One of the letters, alone or joined with others, or one of the long names. */
  has(letters: string, ...long: readonly string[]): boolean {
    const short = new RegExp(`^-[a-zA-Z0-9.]*[${letters}]`);
    return this.values.some((value) => short.test(value) || long.includes(value));
  }

  /** The values of an option, attached or as the next word. */
  of(...names: readonly string[]): readonly string[] {
    return this.values.flatMap((value, index) => {
      const name = names.find((each) => value === each || value.startsWith(each.startsWith("--") ? `${each}=` : each));
      if (name === undefined) return [];
      return [value === name ? (this.values[index + 1] ?? "") : value.slice(name.length).replace(/^=/, "")];
    });
  }
}

type Reader = (options: Options) => Partial<TreeReading>;

const grep: Reader = (options) => ({
  recursive:
    options.has("rR", "--recursive", "--dereference-recursive", "--directories=recurse") ||
    options.of("-d", "--directories").includes("recurse"),
  follows: options.has("R", "--dereference-recursive"),
  only: options.of("--include").map(nameShape),
});

const fd: Reader = (options) => ({
  recursive: true,
  follows: options.has("L", "--follow"),
  hidden: options.has("Hu", "--hidden", "--unrestricted"),
});

const READERS: Readonly<Record<string, Reader>> = {
  grep,
  egrep: grep,
  fgrep: grep,
  rg: (options) => ({
    content: !options.has("", "--files", "--type-list"),
    recursive: true,
    follows: options.has("L", "--follow"),
    hidden: options.has("u.", "--hidden", "--unrestricted"),
    only: [...rgNames(options), ...rgTypes(options)],
  }),
  diff: (options) => ({ recursive: true, follows: !options.has("", "--no-dereference") }),
  find: (options) => ({ recursive: true, follows: options.has("", "-L", "-follow") }),
  fd,
  fdfind: fd,
  ls: (options) => {
    const follows = options.has("L", "--dereference");
    return { recursive: follows || options.has("R", "--recursive"), follows };
  },
  tree: (options) => ({ recursive: true, follows: options.has("l") }),
  du: (options) => ({ recursive: true, follows: options.has("L", "--dereference") }),
};

function rgNames(options: Options): readonly TextPattern[] {
  const globs = options.of("-g", "--glob", "--iglob").filter((glob) => !glob.startsWith("!"));
  return globs.map((glob) => nameShape(glob.slice(glob.lastIndexOf("/") + 1)));
}

/** A type that may be one of secrets limits nothing. */
function rgTypes(options: Options): readonly TextPattern[] {
  const types = options.of("-t", "--type");
  const isHarmless = types.length > 0 && types.every((type) => Object.hasOwn(HARMLESS_TYPES, type));
  return isHarmless ? [NO_NAME] : [];
}

const NO_NAME = /^(?!)/;
const DISJUNCTION = set("-o -or ! -not , ( )");

function namesOfFind(finder: SimpleCommand): readonly TextPattern[] {
  const values = finder.words.slice(1).map((word) => fixedValue(word) ?? "");
  if (values.some((value) => DISJUNCTION.has(value))) return [];
  const names = values.flatMap((value, index) => (/^-i?name$/.test(value) ? [values[index + 1] ?? "*"] : []));
  // All of them must match: one that spells the others out is enough.
  return names.slice(0, 1).map(nameShape);
}

/** A glob for one name; what is not plain counts as any text. */
export function nameShape(glob: string): TextPattern {
  return namePattern(glob.replace(/\[[^\]]*\]|\{[^}]*\}/g, "*"));
}
