/**
 * The folders that programs which go on running may change in the live workspace: those that the ignore files of HEAD name (`node_modules`,
 * `dist`, `target`), and those that the person named.
 *
 * 1. Only real folders that exist. The ignore files are those of the commit (`system/git/head-tree.ts`): a command can write others.
 * 2. Nothing that git tracks, that other programs run or obey (the guard list), that holds secrets, or that has another name (a hard link)
 *    outside the folder. In folders of packages only repositories count: packages ship files with guarded names.
 * 3. Everything below is looked at. A folder in a writable one with such an entry stays read-only, and so does what cannot be read.
 */
import { lstatSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { setImmediate } from "node:timers/promises";
import { mayBeGitFolder } from "../../system/git/git-folder.js";
import type { HeadTree } from "../../system/git/head-tree.js";
import { realpathOrSelf } from "../../system/real-path.js";
import { isWithin, outermost } from "../../system/within.js";
import { guardedEntries } from "../guard-list/guarded-names.js";
import { secretEntries } from "../guard-list/secret-entries.js";

export interface LiveFolders {
  /** Absolute and free of links. */
  readonly writable: readonly string[];
  /** In those: these stay read-only. */
  readonly kept: readonly string[];
  /** Folders that were asked for and stay read-only, and why. */
  readonly refused: readonly { readonly path: string; readonly why: string }[];
}

export interface LiveFoldersOptions {
  readonly head: HeadTree | undefined;
  /** Whether the ignore files of the commit name this absolute folder; those around it are not ignored. */
  readonly ignores: (folder: string) => boolean;
  /** Absolute folders that the person named. */
  readonly named: readonly string[];
}

const PACKAGE_FOLDERS: ReadonlySet<string> = new Set(["node_modules", ".venv", "__pycache__"]);
const BREATHE_EVERY = 100;
/** Of one folder: more mounts than these would slow down the start. */
const MOST_KEPT = 16;
const MOST_FOUND = 50;

export async function findLiveFolders(
  root: string,
  { head, ignores, named }: LiveFoldersOptions,
): Promise<LiveFolders> {
  const ignored = head === undefined ? [] : await ignoredFolders(root, { head, ignores });
  const writable: string[] = [];
  const kept: string[] = [];
  const refused: { readonly path: string; readonly why: string }[] = [];
  const all = [...new Set([...named, ...ignored])];
  for (const path of outermost(all)) {
    const found = await lookAt(path, root);
    if (typeof found === "string") refused.push({ path, why: found });
    else {
      writable.push(path);
      kept.push(...found);
    }
  }
  return { writable, kept, refused };
}

/** Finds what has a guarded name, or holds secrets, in these folders. From the root; the nearest first. */
export async function guardedIn(folders: readonly string[], root: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const folder of folders) {
    for await (const { path, guarded = [] } of listings(folder, root)) {
      found.push(...guarded.map((name) => relative(root, join(path, name))));
      if (found.length > MOST_FOUND) return found;
    }
  }
  return found;
}

/** The folders directly in this one that must stay read-only, or why all of it must. */
async function lookAt(folder: string, root: string): Promise<readonly string[] | string> {
  if (realpathOrSelf(folder) !== folder || !lstatSync(folder, { throwIfNoEntry: false })?.isDirectory())
    return "it is not a real folder";
  if (hasGuardedName(folder, root)) return "other programs run or obey what is in it, or it holds secrets";
  const kept = new Map<string, string>();
  const links = new Map<string, { left: number; readonly in: Set<string> }>();
  for await (const { path, guarded, files } of listings(folder, root)) {
    const inner = path === folder ? folder : join(folder, relative(folder, path).split("/")[0] ?? "");
    if (guarded === undefined) kept.set(inner, `${relative(root, path)} cannot be read`);
    else if (guarded.length > 0) kept.set(inner, `${relative(root, join(path, guarded[0] ?? ""))} is in it`);
    for (const name of files) {
      const found = lstatSync(join(path, name), { throwIfNoEntry: false });
      if (found === undefined || found.nlink < 2) continue;
      const number = `${found.dev}:${found.ino}`;
      const link = links.get(number) ?? { left: found.nlink, in: new Set<string>() };
      link.left -= 1;
      link.in.add(inner);
      links.set(number, link);
    }
  }
  for (const { left, in: places } of links.values())
    if (left > 0) for (const place of places) kept.set(place, "files in it have other names (hard links) outside");
  const all = kept.get(folder) ?? (kept.size > MOST_KEPT ? [...kept.values()][0] : undefined);
  return all ?? [...kept.keys()];
}

function hasGuardedName(folder: string, root: string): boolean {
  for (let at = folder; at !== root && isWithin(at, root); at = dirname(at)) {
    const name = [at.slice(at.lastIndexOf("/") + 1)];
    const way = relative(root, dirname(at));
    if (guardedEntries(way, name).length + secretEntries(way, name).length > 0) return true;
  }
  return folder === root;
}

async function ignoredFolders(
  root: string,
  { head, ignores }: { readonly head: HeadTree; readonly ignores: LiveFoldersOptions["ignores"] },
): Promise<readonly string[]> {
  const found: string[] = [];
  const waiting = [root];
  let count = 0;
  for (const folder of waiting) {
    if (++count % BREATHE_EVERY === 0) await setImmediate();
    const entries = entriesOf(folder) ?? [];
    // Another repository has rules of its own.
    if (folder !== head.top && entries.some(({ name }) => name === ".git")) continue;
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (!entry.isDirectory() || entry.name === ".git" || isUnnamed(path)) continue;
      if (!ignores(path)) waiting.push(path);
      else if (head.kindOf(path) === undefined) found.push(path);
    }
  }
  return found;
}

interface Listed {
  readonly path: string;
  /** Undefined if the folder cannot be read. */
  readonly guarded?: readonly string[];
  readonly files: readonly string[];
}

/** All folders below. */
async function* listings(top: string, root: string): AsyncGenerator<Listed> {
  const waiting = [top];
  let count = 0;
  for (const path of waiting) {
    if (++count % BREATHE_EVERY === 0) await setImmediate();
    const entries = isUnnamed(path) ? undefined : entriesOf(path);
    if (entries === undefined) {
      yield { path, files: [] };
      continue;
    }
    const names = entries.map(({ name }) => name);
    const way = relative(root, path);
    const isOfPackages = way.split("/").some((name) => PACKAGE_FOLDERS.has(name));
    const guarded = new Set([
      ...names.filter((name) => name === ".git"),
      ...(mayBeGitFolder((name) => names.includes(name)) ? ["HEAD"] : []),
      ...(isOfPackages ? [] : [...guardedEntries(way, names), ...secretEntries(way, names)]),
    ]);
    yield {
      path,
      guarded: [...guarded],
      files: entries.filter((entry) => entry.isFile()).map(({ name }) => name),
    };
    for (const entry of entries)
      if (entry.isDirectory() && !guarded.has(entry.name)) waiting.push(join(path, entry.name));
  }
}

/** Node cannot name what is not UTF-8. */
function isUnnamed(path: string): boolean {
  return path.includes("\ufffd");
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return undefined;
  }
}
