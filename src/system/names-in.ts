import { readdirSync } from "node:fs";

/** The names in a folder; none when it cannot be listed. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
