/** Decides which files instruction files name as parts of them (`@./other.md`). */
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { expandImports, type ImportedFile } from "../../context/instructions/expand-imports.js";
import { isThere } from "../../security/trust/is-there.js";

/** The imported files that exist. */
export async function importsOf(file: ImportedFile): Promise<readonly string[]> {
  const paths = new Set<string>();
  await expandImports(file, async (spelled) => {
    paths.add(importPath(spelled, file.path));
    return { problem: undefined };
  });
  return [...paths].filter(isThere);
}

export function importPath(spelled: string, from: string): string {
  return spelled.startsWith("~/") ? join(homedir(), spelled.slice(2)) : resolve(dirname(from), spelled);
}
