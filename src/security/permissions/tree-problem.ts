/**
 * Decides whether a command that only reads would show files that hold secrets, or files outside the workspace, by going into folders,
 * by following links there, or by globs. It looks at the disk, because the words of the command do not name these files.
 *
 * Left out of the search for secrets: `node_modules`, which holds other people's code, and `.git` but for its configuration when that
 * has a login in it.
 */

import { posix } from "node:path";
import { sensitiveReason } from "../../base/sensitive-path.js";
import { namePattern, type TextPattern } from "../../base/star-pattern.js";
import type { SimpleCommand, Word } from "../shell/syntax.js";
import { fixedValue, globValue, hasGlob } from "../shell/word-values.js";
import { programName } from "../shell/wrappers.js";
import type { Whereabouts } from "./command-paths.js";
import { handedReading, operandWords, readingOf, readOperands, type TreeReading } from "./tree-reading.js";

export type EntryKind = "file" | "folder" | "link";

/** Describes what the disk says about folders. */
export interface TreeReader {
  /** Free of links; undefined when there is nothing. */
  real(path: string): string | undefined;
  /** Tells what a path is, links followed. */
  kind(path: string): "file" | "folder" | undefined;
  entries(folder: string): readonly { readonly name: string; readonly kind: EntryKind }[];
  /** The beginning of a small file. */
  text(path: string): string | undefined;
}

/** Entries that are looked at for one command; it takes some tenths of a second. */
const MOST_ENTRIES = 60_000;

export interface TreeCall {
  readonly command: SimpleCommand;
  /** The command whose output it reads, in a pipe. */
  readonly from: SimpleCommand | undefined;
  readonly place: Whereabouts;
}

export function treeProblem({ command, from, place }: TreeCall, trees: TreeReader): string | undefined {
  const isHanded = programName(command.words) === "xargs" && from !== undefined;
  const reading = isHanded ? handedReading(command, from) : readingOf(command);
  const look = new Look(reading, place.workspace, trees);
  const { words, arePaths } = readOperands(isHanded ? from : command);
  const named = words.map(fixedValue);
  for (const folder of place.folders) {
    const isMissing = (path: string | undefined) =>
      path !== undefined && trees.kind(posix.resolve(folder, path)) === undefined;
    if (arePaths && named.length > 0 && named.every(isMissing)) continue;
    const problem = look.problemOf(words, folder);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Programs that show or copy what is in the files they are given. */
export const SHOWING: ReadonlySet<string> = new Set(
  (
    "cat head tail less more bat nl tac rev sort uniq cut paste strings xxd od hexdump base64 base32 grep egrep fgrep rg awk gawk sed " +
    "diff cmp comm fold fmt column split jq yq cp tar zip dd"
  ).split(" "),
);

/** Of a command that may do more than read: by its globs, and by what `find` hands to another program. */
export function shownProblem(command: SimpleCommand, place: Whereabouts, trees: TreeReader): string | undefined {
  const name = programName(command.words)?.split("/").at(-1) ?? "";
  if (name !== "find") return SHOWING.has(name) ? treeProblem({ command, from: undefined, place }, trees) : undefined;
  const at = command.words.findIndex(({ text }) => /^-(exec|execdir|ok|okdir)$/.test(text));
  if (at < 0) return undefined;
  const handed = { ...command, words: [command.words[0] as Word, ...command.words.slice(at + 1)] };
  const look = new Look(handedReading(handed, command), place.workspace, trees);
  const problems = place.folders.map((folder) => look.problemOf(operandWords(command), folder));
  return problems.find((problem) => problem !== undefined);
}

export class Look {
  readonly #reading: TreeReading;
  readonly #workspace: string;
  readonly #trees: TreeReader;
  #left = MOST_ENTRIES;

  constructor(reading: TreeReading, workspace: string, trees: TreeReader) {
    this.#reading = reading;
    this.#workspace = workspace;
    this.#trees = trees;
  }

  problemOf(words: readonly Word[], folder: string): string | undefined {
    const named: string[] = [];
    for (const word of words) {
      const value = globValue(word);
      if (value === undefined || value === "" || value.startsWith("-")) continue;
      const path = posix.resolve(folder, value);
      if (!hasGlob(word)) {
        if (this.#trees.kind(path) !== undefined) named.push(path);
        continue;
      }
      const found = this.#expand(value.startsWith("/") ? value : `${folder}/${value}`);
      for (const each of found) {
        const problem = this.#foundProblem(each);
        if (problem !== undefined) return problem;
        named.push(each);
      }
      if (this.#left < 0) return this.#tooMany(word.text);
    }
    if (!this.#reading.recursive) return undefined;
    for (const path of named.length === 0 ? [folder] : named) {
      const problem = this.#trees.kind(path) === "folder" ? this.#walk(path) : undefined;
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  /** Of a file that a glob found. */
  #foundProblem(path: string): string | undefined {
    const real = this.#trees.real(path);
    if (real === undefined) return undefined;
    if (real !== posix.resolve(path) && this.#leadsAway(real)) return `${this.#shown(path)} leads to ${real}.`;
    return this.#trees.kind(path) === "file" ? this.#secretProblem(path) : undefined;
  }

  #walk(top: string): string | undefined {
    const { hidden, follows, content } = this.#reading;
    if (!follows && !content) return undefined;
    const waiting = [top];
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      for (const { name, kind } of this.#entries(folder)) {
        if (!hidden && name.startsWith(".")) continue;
        const path = posix.join(folder, name);
        const problem = this.#entryProblem(path, kind);
        if (problem !== undefined) return problem;
        if (kind === "folder" && (follows || (name !== "node_modules" && name !== ".git"))) waiting.push(path);
      }
      if (this.#left < 0) return this.#tooMany(this.#shown(top));
    }
    return undefined;
  }

  #entryProblem(path: string, kind: EntryKind): string | undefined {
    if (kind === "link") {
      const real = this.#reading.follows ? this.#trees.real(path) : undefined;
      if (real === undefined) return undefined;
      return this.#leadsAway(real) ? `It would follow ${this.#shown(path)}, which leads to ${real}.` : undefined;
    }
    if (kind === "folder") {
      const config = `${path}/config`;
      return path.endsWith("/.git") && this.#reading.content && holdsLogin(this.#trees.text(config))
        ? `It would show ${this.#shown(config)}: it holds a login.`
        : undefined;
    }
    return path.includes("/node_modules/") || path.includes("/.git/") ? undefined : this.#secretProblem(path);
  }

  #secretProblem(path: string): string | undefined {
    const { content, only } = this.#reading;
    if (!content) return undefined;
    const name = path.slice(path.lastIndexOf("/") + 1);
    if (only.length > 0 && !only.some((shape) => shape.test(name))) return undefined;
    const reason = sensitiveReason(posix.relative(this.#workspace, path));
    return reason === undefined ? undefined : `It would show ${this.#shown(path)}: ${reason}.`;
  }

  /** As the shell does: dot files only if the glob begins with a dot; links to folders are followed. */
  #expand(pattern: string): readonly string[] {
    const { dotGlobs } = this.#reading;
    const parts = pattern.split("/");
    let found = [parts[0] === "" ? "/" : "."];
    for (const part of parts) {
      if (part === "" || part === ".") continue;
      if (!/[*?[]/.test(part)) {
        found = found.map((folder) => `${folder}/${part}`);
        continue;
      }
      const shape = globShape(part);
      found = found.flatMap((folder) =>
        this.#entries(folder)
          .filter(({ name }) => shape.test(name) && (dotGlobs || part.startsWith(".") || !name.startsWith(".")))
          .map(({ name }) => `${folder}/${name}`),
      );
    }
    return found.map((path) => path.replace(/^\/+/, "/"));
  }

  #entries(folder: string): ReturnType<TreeReader["entries"]> {
    if (this.#left < 0) return [];
    const entries = this.#trees.entries(folder);
    this.#left -= entries.length + 1;
    return entries;
  }

  #leadsAway(real: string): boolean {
    const way = posix.relative(this.#workspace, real);
    return way === ".." || way.startsWith("../") || (this.#reading.content && sensitiveReason(way) !== undefined);
  }

  #shown(path: string): string {
    return posix.relative(this.#workspace, path) || ".";
  }

  #tooMany(where: string): string {
    return `${where} holds too many files to look for secrets and links among them.`;
  }
}

/** `https://name:word@host`, a header or a token. */
function holdsLogin(config: string | undefined): boolean {
  return config !== undefined && /:\/\/[^/\s@]*:[^/\s@]*@|:\/\/[^/\s@]{20,}@|extraheader|password|token/i.test(config);
}

/** Brackets count as any character: one too many found is harmless. */
function globShape(part: string): TextPattern {
  return namePattern(part.replace(/\[[^\]]*\]/g, "?"));
}
