import { lstatSync } from "node:fs";

/** Whether something has this name, be it a link that leads nowhere. What cannot be looked at cannot be loaded either. */
export function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
