/** The identity of a file or folder, independent of its name. */
import { statOf } from "./git/git-folder.js";

/** A new folder may get the inode number of a removed one, but not its creation time. Empty if there is no such file, or none that can be reached. */
export function identityOf(path: string): string {
  const stat = statOf(path);
  return stat === undefined ? "" : `${stat.dev}:${stat.ino}:${stat.birthtimeMs}`;
}

/** Tells whether a file has hard links. */
export function hasSeveralNames(path: string): boolean {
  return (statOf(path)?.nlink ?? 1) > 1;
}
