import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** The path without links, or unchanged if it does not exist. */
export function realpathOrSelf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The path without links as far as it exists, with the rest unchanged. */
export function realpathSoFar(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return dirname(path) === path ? path : join(realpathSoFar(dirname(path)), basename(path));
  }
}
