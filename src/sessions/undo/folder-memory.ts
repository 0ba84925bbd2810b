/**
 * The names in each folder and what ignore files say about them, remembered from one comparison to the next: a folder whose
 * times have not moved has the same names.
 */
import { lstatSync, type Stats } from "node:fs";
import type { Clock } from "../../base/clock.js";
import { fsPath, namesIn } from "../../system/path-bytes.js";
import { isOldEnough, stampOf } from "./entry-state.js";

/** What the ignore files of a folder and those above it leave out. */
export interface IgnoreRules {
  ignores(name: string, kind: "file" | "folder"): boolean;
}

/** Where ignore files come from; this feature only obeys them. */
export interface IgnoreSource {
  /** Names of the files that hold rules: when one changes, the rules of its folder are read again. */
  readonly files: readonly string[];
  /** The rules of the folders above a workspace. */
  above(root: string): Promise<IgnoreRules | undefined>;
  /** The rules of one folder on top of those above it. */
  rules(folder: {
    readonly path: string;
    readonly names: ReadonlySet<string>;
    readonly above: IgnoreRules | undefined;
  }): Promise<IgnoreRules>;
}

export interface Child {
  readonly name: string;
  readonly path: string;
  readonly full: string;
}

export interface FolderToVisit {
  readonly path: string;
  readonly full: string;
  readonly stat: Stats;
  readonly above: IgnoreRules | undefined;
}

export interface VisitedFolder {
  readonly children: readonly Child[];
  readonly rules: IgnoreRules | undefined;
  /** Its content at the last visit; undefined at the first. */
  readonly earlier: ReadonlySet<string> | undefined;
  ignores(child: Child, kind: "file" | "folder"): boolean;
}

class Memo implements VisitedFolder {
  /** Undefined when the folder was changed too lately to be sure. */
  stamp: string | undefined;
  children: readonly Child[] = [];
  names: ReadonlySet<string> = new Set();
  earlier: ReadonlySet<string> | undefined;
  rules: IgnoreRules | undefined;
  above: IgnoreRules | undefined;
  ignoreFiles: string | undefined;
  readonly #verdicts = new Map<string, boolean>();

  ignores(child: Child, kind: "file" | "folder"): boolean {
    if (this.rules === undefined) return false;
    const key = kind === "file" ? child.name : `${child.name}/`;
    let verdict = this.#verdicts.get(key);
    if (verdict === undefined) {
      verdict = this.rules.ignores(child.name, kind);
      this.#verdicts.set(key, verdict);
    }
    return verdict;
  }

  setRules(rules: IgnoreRules): void {
    this.rules = rules;
    this.#verdicts.clear();
  }
}

export class FolderMemory {
  readonly #ignore: IgnoreSource | undefined;
  readonly #clock: Clock;
  readonly #memos = new Map<string, Memo>();

  constructor(ignore: IgnoreSource | undefined, clock: Clock) {
    this.#ignore = ignore;
    this.#clock = clock;
  }

  /** Undefined when the folder cannot be read. One that went away meanwhile is empty. */
  async visit(folder: FolderToVisit): Promise<VisitedFolder | undefined> {
    const known = this.#memos.get(folder.path);
    const memo = known ?? new Memo();
    this.#memos.set(folder.path, memo);
    memo.earlier = known?.names;
    if (memo.stamp === undefined || memo.stamp !== stampOf(folder.stat)) {
      const seenAt = this.#clock.wall();
      const names = namesInFolder(folder.full);
      if (names === undefined) {
        this.#memos.delete(folder.path);
        return undefined;
      }
      const prefix = folder.path === "" ? "" : `${folder.path}/`;
      memo.children = names.map((name) => ({ name, path: prefix + name, full: `${folder.full}/${name}` }));
      memo.names = new Set(names);
      memo.stamp = isOldEnough(folder.stat, seenAt) ? stampOf(folder.stat) : undefined;
    }
    if (this.#ignore !== undefined) await this.#refreshRules(memo, folder, this.#ignore);
    return memo;
  }

  async #refreshRules(memo: Memo, { full, above }: FolderToVisit, ignore: IgnoreSource): Promise<void> {
    const stamps = ignore.files.filter((name) => memo.names.has(name)).map((name) => lookOf(`${full}/${name}`));
    // Another repository has its own rules.
    const key = [memo.names.has(".git"), ...stamps].join(" ");
    if (memo.rules !== undefined && memo.above === above && memo.ignoreFiles === key) return;
    memo.setRules(await ignore.rules({ path: full, names: memo.names, above }));
    memo.above = above;
    memo.ignoreFiles = key;
  }
}

function lookOf(path: string): string {
  const stat = lstatSync(fsPath(path), { throwIfNoEntry: false });
  return stat === undefined ? "" : stampOf(stat);
}

function namesInFolder(full: string): readonly string[] | undefined {
  try {
    return namesIn(full);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? [] : undefined;
  }
}
