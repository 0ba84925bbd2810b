/**
 * Counts the tracked files that differ from git's index, without git: what a repository sets must not run anything. A file is read only
 * if its time differs and its size does not.
 */
import { createHash } from "node:crypto";
import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { gitFolderAround } from "./git-folder.js";
import { type IndexEntry, readIndexEntries } from "./index-file.js";
import { plainFile } from "./plain-file.js";

/** About five thousand files, which takes some milliseconds. */
const MOST_INDEX_BYTES = 512 * 1024;
/** A copy of a repository has new times everywhere: then the number stays unknown. */
const MOST_READ_FILES = 200;
const MOST_FILE_BYTES = 1024 * 1024;

/** Undefined if it is unknown, or would take long. */
export function countChangedFiles(root: string): number | undefined {
  const around = gitFolderAround(root);
  const [config] = around?.configs ?? [];
  if (around === undefined || config === undefined) return undefined;
  const entries = readIndexEntries(join(dirname(config), "index"), MOST_INDEX_BYTES);
  if (entries === undefined) return undefined;
  // A file with conflicts has several entries.
  const changed = new Set<string>();
  let read = 0;
  for (const entry of entries.filter(({ isCompared }) => isCompared)) {
    const path = join(around.top, entry.path);
    const state = stateOf(path, entry);
    if (state === "unclear" && ++read > MOST_READ_FILES) return undefined;
    if (state === "changed" || (state === "unclear" && !hasContent(path, entry))) changed.add(path);
  }
  return changed.size;
}

function stateOf(path: string, { size, seconds, nanoseconds }: IndexEntry): "same" | "changed" | "unclear" {
  const found = statAt(path);
  if (!found?.isFile()) return "changed";
  // Git notes no size for a file that may have changed within the tick in which the index was written.
  if (Number(found.size & 0xffffffffn) !== size) return size === 0 ? "unclear" : "changed";
  const sameTime =
    Number((found.mtimeNs / 1_000_000_000n) & 0xffffffffn) === seconds &&
    (nanoseconds === 0 || Number(found.mtimeNs % 1_000_000_000n) === nanoseconds);
  return sameTime ? "same" : "unclear";
}

function statAt(path: string) {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Filters of line ends do not count: then the content differs from the object. */
function hasContent(path: string, { hash }: IndexEntry): boolean {
  const bytes = plainFile(path, MOST_FILE_BYTES);
  if (!Buffer.isBuffer(bytes)) return false;
  const algorithm = hash.length === 40 ? "sha1" : "sha256";
  return createHash(algorithm).update(`blob ${bytes.length}\0`).update(bytes).digest("hex") === hash;
}
