/** The identity of a file or folder, independent of its name. */
import { lstatSync } from "node:fs";

/** A new folder may get the inode number of a removed one, but not its creation time. Empty if there is no such file. */
export function identityOf(path: string): string {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat === undefined ? "" : `${stat.dev}:${stat.ino}:${stat.birthtimeMs}`;
}

/** Whether a file has hard links. */
export function hasSeveralNames(path: string): boolean {
  return (lstatSync(path, { throwIfNoEntry: false })?.nlink ?? 1) > 1;
}
