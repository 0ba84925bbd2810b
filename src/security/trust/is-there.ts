import { lstatSync } from "node:fs";

/** Tells whether something has this name, also a broken link. A path that cannot be checked cannot be loaded either. */
export function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
