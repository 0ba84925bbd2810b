/**
 * The files that the words of a command name, for path permissions and path rules.
 *
 * 1. It reads words, not the file system: a program can reach files that no word names. Only a sandbox prevents that.
 * 2. Every word that is not an option counts as a path, from each folder the shell may be in: one too many is harmless, because
 *    only paths that someone spoke about matter.
 */
import { posix } from "node:path";
import type { SimpleCommand, Word } from "../shell/syntax.js";
import { fixedValue, globValue } from "../shell/word-values.js";
import type { PathAccess, PathFacts } from "./facts.js";
import { guessedPaths } from "./guessed-paths.js";
import { spelledPath } from "./spelled-path.js";

export interface Whereabouts {
  readonly workspace: string;
  readonly home: string | undefined;
  /** Where the shell may be. `cd` adds to it for the commands that follow. */
  readonly folders: string[];
}

const list = (words: string) => words.split(" ");

/** What well-known programs do to the files they are given; all others read them. */
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
  // They unpack, download or apply into what they are given.
  ...list("tar bsdtar unzip cpio 7z curl wget apply").map((name) => [name, ["read", "write"]] as const),
  ["find", ["read", "delete"]],
]);

const MAX_FOLDERS = 4;

export function commandPaths(
  command: SimpleCommand,
  { place, access }: { readonly place: Whereabouts; readonly access: PathAccess | undefined },
): readonly PathFacts[] {
  const found: PathFacts[] = [];
  const add = (text: string | undefined, accesses: readonly PathAccess[]) => {
    if (text === undefined || text === "" || text === "-") return;
    for (const folder of place.folders) {
      for (const each of accesses) found.push(spelledPath(resolveFrom(place, folder, text), each, place.workspace));
    }
  };
  const addAll = (word: Word, accesses: readonly PathAccess[]) => {
    const text = pathText(word, place);
    const value = text === undefined ? undefined : /^-{0,2}[\w-]+=(.+)$/s.exec(text)?.[1];
    if (!text?.startsWith("-")) add(text, accesses);
    add(value, accesses);
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
  if (program?.includes("/")) add(program, ["exec"]);
  const usual = usualAccess(command.words);
  for (const word of rest) addAll(word, access === undefined ? usual : [access]);
  if (program === "cd" || program === "pushd") follow(rest.at(-1), place);
  return found;
}

/** The effect of a word that names such a program: `sudo rm`, `xargs rm` and `git rm` delete as `rm` does. */
function usualAccess(words: readonly Word[]): readonly PathAccess[] {
  const found = new Set<PathAccess>();
  words.forEach((word, index) => {
    const name = fixedValue(word) ?? "";
    // A folder, unless it is the program, which reads a script.
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
