import { readdirSync } from "node:fs";

/** The names of the profiles in a folder; none if it cannot be read. */
export function namesIn(folder: string): readonly string[] {
  try {
    const files = readdirSync(folder).filter((name) => name.endsWith(".toml") && !name.startsWith("."));
    return files.map((name) => name.slice(0, -".toml".length)).sort();
  } catch {
    return [];
  }
}
