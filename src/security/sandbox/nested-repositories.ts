/**
 * Finds the repositories below a folder. It looks once, before the first command of a session runs: what appears later was
 * made by a sandboxed command, or is a person's own doing meanwhile.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";

export interface NestedRepositories {
  /** Folders that hold a `.git`, nearest first; the root itself is not among them. */
  readonly folders: readonly string[];
  /** False when the limits ended the search. */
  readonly complete: boolean;
}

/** About 100 ms on a slow disk. */
const MAX_FOLDERS = 4000;
const MAX_DEPTH = 6;
/** Large, and never a place where one works with git. */
const SKIPPED = new Set(["node_modules", ".git"]);

export function findNestedRepositories(root: string): NestedRepositories {
  const folders: string[] = [];
  let level = [root];
  let looked = 0;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return { folders, complete: false };
    const next: string[] = [];
    for (const folder of level) {
      looked += 1;
      if (looked > MAX_FOLDERS) return { folders, complete: false };
      for (const entry of entriesOf(folder)) {
        if (entry.name === ".git" && folder !== root) folders.push(folder);
        else if (entry.isDirectory() && !SKIPPED.has(entry.name)) next.push(join(folder, entry.name));
      }
    }
    level = next;
  }
  return { folders, complete: true };
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
