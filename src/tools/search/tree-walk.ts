/**
 * Walking a folder of the workspace without ripgrep: the same files, in no particular order.
 *
 * 1. Symbolic links are neither followed nor reported; folders are entered through descriptors (see held-directory).
 * 2. Ignore files count from the repository's folder down, or from the workspace's when it is in no repository.
 */
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isInside } from "../files/containment.js";
import { HeldDirectory } from "../files/held-directory.js";
import {
  HIDDEN_ALWAYS,
  IGNORE_FILES,
  type IgnoreFileName,
  IgnoreScope,
  parseIgnoreFile,
  type Rules,
} from "./ignore-rules.js";

export interface VisitedFolder {
  /** Relative to the start with forward slashes, with a slash at the end; empty for the start itself. */
  readonly prefix: string;
  readonly files: readonly string[];
  /** A path by which a file of this folder is opened. */
  at(name: string): string;
}

export interface WalkOptions {
  /** Where ignore files begin to count. */
  readonly top: string;
  /** `top` is a repository's folder: then so are others below that have a `.git`, and each has its own rules. */
  readonly isRepository: boolean;
  readonly signal: AbortSignal;
}

const MAX_IGNORE_FILE_BYTES = 1024 * 1024;
const PARALLEL = 8;

/** Calls `visit` for every folder below `start` that is not ignored, several at a time. */
export async function walkTree(
  start: string,
  options: WalkOptions,
  visit: (folder: VisitedFolder) => Promise<void>,
): Promise<void> {
  const waiting: Pending[] = [{ path: start, prefix: "", parent: await scopeAbove(start, options) }];
  await new Promise<void>((resolve, reject) => {
    let active = 0;
    const proceed = (): void => {
      if (options.signal.aborted) {
        reject(options.signal.reason);
        return;
      }
      while (active < PARALLEL && waiting.length > 0) {
        active++;
        enter(waiting.pop() as Pending, options, visit).then((below) => {
          active--;
          waiting.push(...below);
          proceed();
        }, reject);
      }
      if (active === 0) resolve();
    };
    proceed();
  });
}

interface Pending {
  readonly path: string;
  readonly prefix: string;
  readonly parent: IgnoreScope | undefined;
}

async function enter(
  folder: Pending,
  { isRepository }: WalkOptions,
  visit: (folder: VisitedFolder) => Promise<void>,
): Promise<readonly Pending[]> {
  // What vanished or may not be read meanwhile is left out, as ripgrep does.
  const held = await HeldDirectory.open(folder.path, folder.path).catch(() => undefined);
  if (held === undefined) return [];
  try {
    const entries = await readdir(held.path, { withFileTypes: true });
    const names = new Set(entries.map((entry) => entry.name));
    const scope = await scopeOf({
      name: basename(folder.path),
      parent: folder.parent,
      names,
      at: (name) => held.at(name),
    });
    const files: string[] = [];
    const below: Pending[] = [];
    for (const entry of entries) {
      if (HIDDEN_ALWAYS.has(entry.name)) continue;
      if (entry.isFile() && !scope.ignores(entry.name, "file")) files.push(entry.name);
      if (entry.isDirectory() && !scope.ignores(entry.name, "folder")) {
        const prefix = `${folder.prefix}${entry.name}/`;
        below.push({ path: join(folder.path, entry.name), prefix, parent: scope });
      }
    }
    if (files.length > 0) await visit({ prefix: folder.prefix, files, at: (name) => held.at(name) });
    return below;
  } finally {
    await held.close();
  }
}

/** The ignore files between `top` and `folder`, without those of `folder` itself. */
export async function scopeAbove(folder: string, top: string): Promise<IgnoreScope | undefined> {
  if (folder === top || !isInside(folder, [top])) return undefined;
  return folderScope(dirname(folder), await scopeAbove(dirname(folder), top));
}

/** The ignore files of one folder on top of those above. */
export async function folderScope(path: string, parent: IgnoreScope | undefined): Promise<IgnoreScope> {
  return scopeOf({ name: basename(path), parent, names: await namesOfInterest(path), at: (name) => join(path, name) });
}

async function namesOfInterest(folder: string): Promise<ReadonlySet<string>> {
  const found = await Promise.all(
    [...IGNORE_FILES, ".git"].map(async (name) => ((await isThere(join(folder, name))) ? name : undefined)),
  );
  return new Set(found.filter((name) => name !== undefined));
}

async function scopeOf(options: {
  readonly name: string;
  readonly parent: IgnoreScope | undefined;
  readonly names: ReadonlySet<string>;
  at(name: string): string;
}): Promise<IgnoreScope> {
  const rules: Partial<Record<IgnoreFileName, Rules>> = {};
  for (const file of IGNORE_FILES) {
    if (options.names.has(file)) rules[file] = await readRules(options.at(file));
  }
  const isRepository = options.names.has(".git");
  return new IgnoreScope({ name: options.name, parent: options.parent, rules, isRepository });
}

async function readRules(path: string): Promise<Rules> {
  try {
    const found = await stat(path);
    if (!found.isFile() || found.size > MAX_IGNORE_FILE_BYTES) return [];
    return parseIgnoreFile(await readFile(path, "utf8"));
  } catch {
    return [];
  }
}

/** Where ignore files begin to count: the folder of the repository that holds the workspace, or the workspace. */
export async function ignoreTop(root: string): Promise<{ top: string; isRepository: boolean }> {
  for (let folder = root; ; folder = dirname(folder)) {
    if (await isThere(join(folder, ".git"))) return { top: folder, isRepository: true };
    if (folder === dirname(folder)) return { top: root, isRepository: false };
  }
}

/** Whether a folder above `top` has an ignore file that ripgrep would obey and we do not. */
export async function hasIgnoreFilesAbove(top: string, names: readonly string[]): Promise<boolean> {
  for (let folder = top; folder !== dirname(folder); ) {
    folder = dirname(folder);
    for (const name of names) if (await isThere(join(folder, name))) return true;
  }
  return false;
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
