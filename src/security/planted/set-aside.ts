/**
 * Renames a file, so that git does not find it any more. Processes that put it there may still run and exchange folders for links
 * meanwhile: the folder is opened once, what was opened is checked, and the renaming happens in it.
 */
import { closeSync, constants, openSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { configText } from "../../system/git/config-text.js";
import { isWithin } from "../../system/within.js";
import type { Danger } from "./repository-dangers.js";

const SUFFIX = ".set-aside-by-oxbow";

/** The new name, or undefined when it was not possible. */
export function setAside({ file, remedy }: Danger, root: string): string | undefined {
  if (remedy === undefined) return undefined;
  const folder = dirname(file);
  const name = basename(file);
  try {
    withFolder(folder, (place) => {
      if (!isWithin(realpathSync(place), root)) throw new Error("It is now outside the workspace.");
      renameSync(join(place, name), join(place, name + SUFFIX));
      if (remedy.keep.length > 0)
        writeFileSync(join(place, name), configText(remedy.keep), { flag: "wx", mode: 0o644 });
    });
    return file + SUFFIX;
  } catch {
    return undefined;
  }
}

function withFolder(folder: string, act: (place: string) => void): void {
  const descriptor = openSync(folder, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0));
  try {
    act(process.platform === "linux" ? `/proc/self/fd/${descriptor}` : folder);
  } finally {
    closeSync(descriptor);
  }
}
