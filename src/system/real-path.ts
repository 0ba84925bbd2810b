import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** The path free of links, or as it is when it does not exist. */
export function realpathOrSelf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The path free of links as far as it exists, with the rest as it is. */
export function realpathSoFar(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return dirname(path) === path ? path : join(realpathSoFar(dirname(path)), basename(path));
  }
}
