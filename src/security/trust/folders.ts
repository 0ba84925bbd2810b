/** The folders that content may come from. A small module, because every start loads it. */
import { realpathSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { isWithin } from "../../system/within.js";
import type { Owner } from "./content.js";
import { isThere } from "./is-there.js";

export interface Origin {
  readonly root: string;
  /** The folder of the places, below the root. */
  readonly base: string;
  readonly owner: Owner;
  /** A folder above the project, or one that a hook named. */
  readonly isAbove?: true;
}

/** Outermost first. Below the project's top the top is the root; each folder above it is one of its own. */
export function foldersUpward(folder: string, stopAt: string | undefined): readonly Pick<Origin, "root" | "base">[] {
  const top = projectTop(folder);
  const asked = stopAt === undefined ? undefined : realFolder(stopAt);
  const last = asked !== undefined && isWithin(top, asked) ? asked : top;
  const folders: Pick<Origin, "root" | "base">[] = [];
  for (let current = folder; ; current = dirname(current)) {
    const root = isWithin(current, top) ? top : current;
    folders.unshift({ root, base: relative(root, current) });
    if (current === last || current === dirname(current)) return folders;
  }
}

/** The top of the repository around the folder, or the folder. */
export function projectTop(folder: string): string {
  const start = realpathSync.native(folder);
  for (let current = start; ; current = dirname(current)) {
    if (isThere(join(current, ".git"))) return current;
    if (current === dirname(current)) return start;
  }
}

/** The folder free of links; undefined when it is none. */
export function realFolder(path: string): string | undefined {
  try {
    // Checking first is cheaper than the error for a missing folder.
    if (!isThere(path)) return undefined;
    const real = realpathSync.native(path);
    return statSync(real).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}
