/**
 * Describes what may be done below a folder.
 *
 * 1. An entry gives a prefix, from the workspace or from `/`, a subset of read, write, exec and delete. The most specific entry
 *    decides about a path; a path without an entry is not restricted here.
 * 2. An entry only restricts: what it grants is still subject to the rules, the mode and the user.
 * 3. Letter case makes no difference, because it makes none on many file systems. Of two entries that differ in nothing else,
 *    the one in the path's own letters decides.
 */
import { posix } from "node:path";
import { MOST_PATH } from "../../system/real-path.js";
import type { PathAccess, PathFacts } from "./facts.js";
import { StateFile, type StateFileOptions, type StateFormat } from "./state-file.js";

export const PATH_ACCESSES: readonly PathAccess[] = ["read", "write", "exec", "delete"];
const LETTERS: Readonly<Record<PathAccess, string>> = { read: "r", write: "w", exec: "x", delete: "d" };

export interface PathEntry {
  /** Relative to the workspace (`.` is the workspace itself) or absolute, without a slash at the end. */
  readonly prefix: string;
  readonly granted: readonly PathAccess[];
}

export interface PathPermissionState {
  readonly entries: readonly PathEntry[];
}

export const NO_PATH_PERMISSIONS: PathPermissionState = { entries: [] };

export class PathPermissionError extends Error {
  override readonly name = "PathPermissionError";
}

/** An entry with the place it stands for. */
export interface PlacedEntry {
  readonly entry: PathEntry;
  readonly place: string;
  /** The same in lower case. */
  readonly folded: string;
}

export function placed({ entries }: PathPermissionState, workspace: string): readonly PlacedEntry[] {
  return entries.map((entry) => {
    const place = posix.resolve(workspace, entry.prefix);
    return { entry, place, folded: place.toLowerCase() };
  });
}

/** The entry that forbids it; undefined when there is none. */
export function refusingEntry(entries: readonly PlacedEntry[], { absolute, access }: PathFacts): PathEntry | undefined {
  const folded = absolute.toLowerCase();
  let best: { readonly entry: PathEntry; readonly length: number } | undefined;
  for (const each of entries) {
    if (!isBelow(folded, each.folded)) continue;
    // Half a point for the same letters: it decides between prefixes of one length only.
    const length = each.place.length + (isBelow(absolute, each.place) ? 0.5 : 0);
    if (best === undefined || length > best.length) best = { entry: each.entry, length };
  }
  return best?.entry.granted.includes(access) === false ? best.entry : undefined;
}

/** An entry below a folder that is touched with all that is in it, against that access. */
export function refusingBelow(
  entries: readonly PlacedEntry[],
  { absolute, access, recursive }: PathFacts,
): PathEntry | undefined {
  if (recursive === undefined) return undefined;
  const folder = absolute.toLowerCase();
  return entries.find(({ entry, folded }) => !entry.granted.includes(access) && isBelow(folded, folder))?.entry;
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

/** `rw`, `r--d`, `rwxd`, `none`, `read,write`, in any order. */
export function parseAccess(text: string): readonly PathAccess[] {
  const plain = text.trim().toLowerCase();
  if (plain === "none") return [];
  const words = plain.split(",").map((word) => word.trim());
  const named = PATH_ACCESSES.filter((access) => words.includes(access));
  if (named.length > 0 && named.length === words.length) return named;
  const letters = plain.replaceAll("-", "");
  if (plain === "" || !/^[rwxd]*$/.test(letters) || new Set(letters).size !== letters.length) {
    throw new PathPermissionError(
      `"${text}" is not a set of permissions. Use the letters r (read), w (write), x (execute) and d (delete), such as rw or r--d, or "none".`,
    );
  }
  return PATH_ACCESSES.filter((access) => letters.includes(LETTERS[access]));
}

/** `rw-d`. */
export function printAccess(granted: readonly PathAccess[]): string {
  return PATH_ACCESSES.map((access) => (granted.includes(access) ? LETTERS[access] : "-")).join("");
}

export function normalPrefix(path: string, home?: string): string {
  const expanded = home === undefined ? path : path.replace(/^~(?=\/|$)/, () => home);
  if (path.trim() === "" || path.includes("\0")) throw new PathPermissionError("Give a path.");
  if (path.length > MOST_PATH) throw new PathPermissionError(`A path has at most ${MOST_PATH} characters.`);
  if (expanded.startsWith("~")) throw new PathPermissionError(`"${path}": write the folder in full.`);
  const normal = posix.normalize(expanded.trim()).replace(/(.)\/+$/, "$1");
  if (normal === ".." || normal.startsWith("../")) {
    throw new PathPermissionError(`"${path}" leaves the workspace; write it from "/".`);
  }
  return normal;
}

export function withEntry({ entries }: PathPermissionState, entry: PathEntry): PathPermissionState {
  const others = entries.filter(({ prefix }) => prefix !== entry.prefix);
  return { entries: [...others, entry].sort((a, b) => (a.prefix < b.prefix ? -1 : 1)) };
}

/** Without a prefix, all entries go. */
export function withoutEntry({ entries }: PathPermissionState, prefix?: string): PathPermissionState {
  return { entries: prefix === undefined ? [] : entries.filter((entry) => entry.prefix !== prefix) };
}

/** `{ "paths": { "docs": "rw--" } }`. */
export const PATH_PERMISSION_FORMAT: StateFormat<PathPermissionState> = {
  initial: NO_PATH_PERMISSIONS,
  decode(value) {
    const { paths } = value as { paths?: unknown };
    if (typeof paths !== "object" || paths === null || Array.isArray(paths))
      throw new Error('"paths" is not an object');
    return Object.entries(paths).reduce<PathPermissionState>((state, [path, access]) => {
      if (typeof access !== "string") throw new Error(`the permissions of "${path}" are not a text`);
      return withEntry(state, { prefix: normalPrefix(path), granted: parseAccess(access) });
    }, NO_PATH_PERMISSIONS);
  },
  encode: ({ entries }) => ({
    paths: Object.fromEntries(entries.map(({ prefix, granted }) => [prefix, printAccess(granted)])),
  }),
};

export function pathPermissionFile(path: string, options?: StateFileOptions): StateFile<PathPermissionState> {
  return new StateFile(path, PATH_PERMISSION_FORMAT, options);
}
