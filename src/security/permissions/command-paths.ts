/**
 * The files that the words of a command name, for path permissions and path rules.
 *
 * 1. It reads words, not the file system: a program can reach files that no word names. Only a sandbox prevents that.
 * 2. Every word that is not an option counts as a path, from each folder the shell may be in. Too many paths do no harm: only
 *    those with a permission, a rule or a guard matter.
 */
import { posix } from "node:path";
import { WRAPPERS } from "../shell/programs/wrappers.js";
import type { SimpleCommand, Word } from "../shell/syntax.js";
import { fixedValue, globValue } from "../shell/word-values.js";
import type { PathAccess, PathFacts } from "./facts.js";
import { guessedPaths } from "./guessed-paths.js";
import { spelledPath } from "./spelled-path.js";

export interface Whereabouts {
  readonly workspace: string;
  readonly home: string | undefined;
  /** The folders in which the shell may be. `cd` adds to it for the commands that follow. */
  readonly folders: string[];
}

const list = (words: string) => words.split(" ");

/** Lists what well-known programs do with the files in their arguments; all others read them. */
const ACCESS: ReadonlyMap<string, readonly PathAccess[]> = new Map<string, readonly PathAccess[]>([
  ...list("rm rmdir unlink shred").map((name) => [name, ["delete"]] as const),
  ...list("mv rename").map((name) => [name, ["delete", "write"]] as const),
  ...list("cp install rsync scp ln link").map((name) => [name, ["read", "write"]] as const),
  ...list(
    "tee touch mkdir mkfifo mknod truncate chmod chown chgrp dd patch sed gsed perl ed ex vi vim nvim nano emacs",
  ).map((name) => [name, ["read", "write"]] as const),
  ...list("sh bash dash zsh ksh fish source . exec python python3 node ruby php deno bun").map(
    (name) => [name, ["read", "exec"]] as const,
  ),
  // They unpack, download or apply into the named place.
  ...list("tar bsdtar unzip cpio 7z curl wget apply").map((name) => [name, ["read", "write"]] as const),
  ["find", ["read", "delete"]],
]);

const MAX_FOLDERS = 4;

export function commandPaths(
  command: SimpleCommand,
  { place, access }: { readonly place: Whereabouts; readonly access: PathAccess | undefined },
): readonly PathFacts[] {
  const found: PathFacts[] = [];
  const add = (text: string | undefined, accesses: readonly PathAccess[], runs = NOT_RUN) => {
    if (text === undefined || text === "" || text === "-") return;
    for (const folder of place.folders) {
      for (const each of accesses) {
        const path = spelledPath(resolveFrom(place, folder, text), each, place.workspace);
        found.push(each === "exec" ? { ...path, ...runs } : path);
      }
    }
  };
  const addAll = (word: Word, accesses: readonly PathAccess[], runs = NOT_RUN) => {
    const text = pathText(word, place);
    const value = text === undefined ? undefined : /^-{0,2}[\w-]+=(.+)$/s.exec(text)?.[1];
    if (!text?.startsWith("-")) add(text, accesses, runs);
    add(value, accesses, runs);
    const changing = accesses.filter((access) => access === "write" || access === "delete");
    if (changing.length > 0 && fixedValue(word) === undefined)
      for (const guess of guessedPaths(word.text)) add(guess, changing);
  };
  for (const { operator, target } of command.redirects) {
    if (operator.startsWith("<<")) continue;
    addAll(target, [operator === "<" ? "read" : "write"]);
  }
  const [first, ...rest] = command.words;
  const program = first === undefined ? undefined : fixedValue(first);
  if (program?.includes("/")) add(program, ["exec"], RUN);
  for (const inner of innerPrograms(command.words)) if (inner.includes("/")) add(inner, ["exec"], RUN);
  const usual = usualAccess(command.words);
  const scripts = scriptsOf(command.words);
  for (const word of rest) addAll(word, access === undefined ? usual : [access], scripts.has(word) ? RUN : NOT_RUN);
  if (program === "cd" || program === "pushd") follow(rest.at(-1), place);
  return found;
}

const RUN: Pick<PathFacts, "runs"> = { runs: true };
const NOT_RUN: Pick<PathFacts, "runs"> = {};
/** The word behind it is a program text, which is read as commands of its own, or not at all. */
const TEXT_OPTION = /^(-[a-z]*[cep]|--(eval|print|command))$/;

/** The words behind an interpreter that it may run: the values of its options, and the first word that is none. */
function scriptsOf(words: readonly Word[]): ReadonlySet<Word> {
  const found = new Set<Word>();
  let isBehind = false;
  words.forEach((word, index) => {
    const text = fixedValue(word) ?? word.text;
    const before = index === 0 ? "" : (fixedValue(words[index - 1] as Word) ?? "");
    if (isBehind && TEXT_OPTION.test(before)) isBehind = false;
    else if (isBehind) {
      found.add(word);
      isBehind = text.startsWith("-") || before.startsWith("-");
    } else isBehind = ACCESS.get(text.slice(text.lastIndexOf("/") + 1))?.includes("exec") ?? false;
  });
  return found;
}

/** Options of `find` before a command. */
const BEFORE_COMMAND: ReadonlySet<string> = new Set(["-exec", "-execdir", "-ok", "-okdir"]);
/** Before the program of a wrapper: its options, variables and a time. */
const BEFORE_PROGRAM = /^(-|\w+=|\d+(\.\d+)?[smhd]?$)/;

/** The programs that a wrapper such as `env` or `timeout` starts, as far as the words show it. */
function innerPrograms(words: readonly Word[]): readonly string[] {
  const texts = words.map((word) => fixedValue(word) ?? "");
  const [first = ""] = texts;
  const name = first.slice(first.lastIndexOf("/") + 1);
  if (name === "find") return texts.filter((_, index) => BEFORE_COMMAND.has(texts[index - 1] ?? ""));
  if (!Object.hasOwn(WRAPPERS, name) || ACCESS.get(name)?.includes("exec")) return [];
  const found: string[] = [];
  for (let index = 1; index < words.length; index++) {
    const text = texts[index] ?? "";
    if (BEFORE_PROGRAM.test(text)) continue;
    found.push(text, ...innerPrograms(words.slice(index)));
    // The word behind an option may be its value.
    if (!texts[index - 1]?.startsWith("-")) break;
  }
  return found;
}

/** The effect of a word that names such a program: `sudo rm`, `xargs rm` and `git rm` delete as `rm` does. */
function usualAccess(words: readonly Word[]): readonly PathAccess[] {
  const found = new Set<PathAccess>();
  words.forEach((word, index) => {
    const name = fixedValue(word) ?? "";
    // A folder, unless it is the program `.`, which runs a script.
    if (name === "." && index > 0) return;
    for (const access of ACCESS.get(name.slice(name.lastIndexOf("/") + 1)) ?? []) found.add(access);
  });
  return found.size === 0 ? ["read"] : [...found];
}

export function writtenFiles({ redirects }: SimpleCommand): readonly string[] {
  return redirects
    .filter(({ operator, target }) => {
      if (operator === "<" || operator.startsWith("<<")) return false;
      const value = fixedValue(target);
      const duplicates =
        (operator === ">&" || operator === "<&") && value !== undefined && /^([0-9]+-?|-)$/.test(value);
      return !duplicates && value !== "/dev/null";
    })
    .map(({ target }) => target.text);
}

function follow(target: Word | undefined, place: Whereabouts): void {
  const text = target === undefined ? undefined : pathText(target, place);
  if (text === undefined) return;
  for (const folder of [...place.folders]) {
    const next = resolveFrom(place, folder, text);
    if (place.folders.length < MAX_FOLDERS && !place.folders.includes(next)) place.folders.push(next);
  }
}

/** The word as a path; of one with a glob or an unknown part, the folder before it. */
function pathText(word: Word, { home }: Whereabouts): string | undefined {
  const [first, ...rest] = word.parts;
  if (first?.type === "tilde") {
    const below = pathText({ parts: rest, text: word.text }, { workspace: "", home, folders: [] }) ?? "";
    return home === undefined || (below !== "" && !below.startsWith("/")) ? undefined : home + below;
  }
  const fixed = fixedValue(word);
  if (fixed !== undefined) return fixed;
  let known = "";
  for (const part of word.parts) {
    if (part.type !== "literal") break;
    known += part.value;
  }
  const slash = known.lastIndexOf("/");
  if (slash >= 0) return known.slice(0, slash) || "/";
  return globValue(word) === undefined ? undefined : ".";
}

function resolveFrom({ workspace }: Whereabouts, folder: string, path: string): string {
  return posix.resolve(workspace, folder, path);
}
