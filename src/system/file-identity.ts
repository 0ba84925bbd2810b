/** The identity of a file or folder, independent of its name. */
import { lstatSync } from "node:fs";

/** The number of a removed folder may be given to the next one; the time it was made at is not. Empty when there is none. */
export function identityOf(path: string): string {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat === undefined ? "" : `${stat.dev}:${stat.ino}:${stat.birthtimeMs}`;
}
