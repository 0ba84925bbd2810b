/**
 * Renames a file or folder, so that no program finds it any more. Processes that created it may still run and swap folders for links
 * meanwhile. The folder around it is therefore opened once and checked, and the file is renamed in the opened folder.
 */
import { chmodSync, closeSync, constants, lstatSync, openSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isWithin } from "../../system/within.js";

const SUFFIX = ".set-aside-by-oxbow";
const MAX_TRIES = 1000;

export interface SetAsideOptions {
  /** The workspace. */
  readonly root: string;
  /** The content that replaces it, if any. */
  readonly replacement?: string;
}

/** The new path, or undefined when it was not possible. */
export function setAside(file: string, { root, replacement }: SetAsideOptions): string | undefined {
  const folder = dirname(file);
  const name = basename(file);
  try {
    return withFolder(folder, (place) => {
      if (!isWithin(realpathSync(place), root)) throw new Error("It is now outside the workspace.");
      const aside = freeName(place, name + SUFFIX);
      rename(place, { name, aside });
      if (replacement !== undefined) writeFileSync(join(place, name), replacement, { flag: "wx", mode: 0o644 });
      return join(folder, aside);
    });
  } catch {
    return undefined;
  }
}

/** A command may have taken the name, so that the renaming fails or destroys what was set aside before. */
function freeName(place: string, name: string): string {
  for (let count = 1; count <= MAX_TRIES; count++) {
    const each = count === 1 ? name : `${name}-${count}`;
    if (lstatSync(join(place, each), { throwIfNoEntry: false }) === undefined) return each;
  }
  throw new Error("All names are taken.");
}

/** A command may have taken away the person's right to change the folder, which its owner can give back. */
function rename(place: string, { name, aside }: { readonly name: string; readonly aside: string }): void {
  try {
    renameSync(join(place, name), join(place, aside));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EACCES") throw error;
    chmodSync(place, 0o755);
    renameSync(join(place, name), join(place, aside));
  }
}

function withFolder<Result>(folder: string, act: (place: string) => Result): Result {
  const descriptor = openSync(folder, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0));
  try {
    return act(process.platform === "linux" ? `/proc/self/fd/${descriptor}` : folder);
  } finally {
    closeSync(descriptor);
  }
}
