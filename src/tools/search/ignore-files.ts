/**
 * Finds and loads the ignore files that apply.
 *
 * 1. They apply from the top of the workspace's repository down, or from the workspace itself if it is in no repository. Files above
 *    the workspace are obeyed but never shown.
 * 2. In a repository, a folder with its own `.git` is another repository with its own rules.
 */
import { basename, dirname, join } from "node:path";
import { isInside } from "../files/containment.js";
import { isThere, smallText } from "../files/lookups.js";
import { IGNORE_FILES, type IgnoreFileName, IgnoreScope, parseIgnoreFile, type Rules } from "./ignore-rules.js";

export interface IgnoreTop {
  /** The topmost folder whose ignore files apply. */
  readonly top: string;
  readonly isRepository: boolean;
}

const MAX_IGNORE_FILE_BYTES = 1024 * 1024;

export async function ignoreTop(root: string): Promise<IgnoreTop> {
  for (let folder = root; ; folder = dirname(folder)) {
    if (await isThere(join(folder, ".git"))) return { top: folder, isRepository: true };
    if (folder === dirname(folder)) return { top: root, isRepository: false };
  }
}

/** The ignore files from the top down to `folder`, without those of `folder` itself. */
export async function scopeAbove(folder: string, top: IgnoreTop): Promise<IgnoreScope | undefined> {
  if (folder === top.top || !isInside(folder, [top.top])) return undefined;
  return scopeOfFolder(dirname(folder), await scopeAbove(dirname(folder), top), top);
}

/** The ignore files of one folder on top of those above. */
export async function scopeOfFolder(
  path: string,
  parent: IgnoreScope | undefined,
  top: IgnoreTop,
): Promise<IgnoreScope> {
  const names = [...IGNORE_FILES, ".git"];
  const found = await Promise.all(names.map((name) => isThere(join(path, name))));
  return loadScope({
    name: basename(path),
    parent,
    top,
    names: new Set(names.filter((_, index) => found[index])),
    at: (name) => join(path, name),
  });
}

/** For a folder whose entries are already known. `at` returns the path to open an entry. */
export async function loadScope(folder: {
  readonly name: string;
  readonly parent: IgnoreScope | undefined;
  readonly top: IgnoreTop;
  readonly names: ReadonlySet<string>;
  at(name: string): string;
}): Promise<IgnoreScope> {
  const rules: Partial<Record<IgnoreFileName, Rules>> = {};
  for (const file of IGNORE_FILES) {
    if (!folder.names.has(file)) continue;
    rules[file] = parseIgnoreFile((await smallText(folder.at(file), MAX_IGNORE_FILE_BYTES)) ?? "");
  }
  const isRepository = folder.top.isRepository && folder.names.has(".git");
  return new IgnoreScope({ name: folder.name, parent: folder.parent, rules, isRepository });
}

/** Tells whether a folder above the top has an ignore file that ripgrep would obey and we do not. */
export async function hasStrayIgnoreFiles({ top, isRepository }: IgnoreTop): Promise<boolean> {
  // Ripgrep itself stops at the repository's folder, but only for `.gitignore`.
  const names = isRepository ? [".ignore", ".rgignore"] : IGNORE_FILES;
  for (let folder = top; folder !== dirname(folder); ) {
    folder = dirname(folder);
    for (const name of names) if (await isThere(join(folder, name))) return true;
  }
  return false;
}
