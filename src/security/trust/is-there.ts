import { lstatSync } from "node:fs";

/** Whether something has this name, also a broken link. A path that cannot be checked cannot be loaded either. */
export function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
