/** Chooses among several files with one name: the most local one wins. */
import type { ExtensionFile } from "../../base/extension-files.js";
import { safeLine } from "../../base/terminal-text.js";

export interface Chosen {
  /** The name of the program. */
  readonly name: string;
  readonly file: ExtensionFile;
  /** Files that it hides, the closest first. */
  readonly shadows: readonly ExtensionFile[];
}

/**
 * The programs directly in a folder, by name; the most global first, as `files` has them. `nameOf` returns undefined for files that are
 * not programs, such as a library beside them.
 */
export function chosenFiles(
  files: readonly ExtensionFile[],
  nameOf: (file: ExtensionFile) => string | undefined,
): readonly Chosen[] {
  const byName = new Map<string, Chosen>();
  for (const file of files) {
    const name = file.executable ? nameOf(file) : undefined;
    if (name === undefined) continue;
    const hidden = byName.get(name);
    byName.delete(name);
    byName.set(name, { name, file, shadows: hidden === undefined ? [] : [hidden.file, ...hidden.shadows] });
  }
  return [...byName.values()];
}

/** `lint.py` is called `lint`. Undefined for files in folders below and for hidden ones. */
export function programName({ name }: Pick<ExtensionFile, "name">): string | undefined {
  if (name.includes("/") || name.startsWith(".")) return undefined;
  const bare = name.replace(/\.(?:sh|bash|py|pl|rb|js|mjs|cjs|ts|php|lua|exe)$/i, "");
  return bare === "" ? undefined : bare;
}

/** For messages. */
export function shownPath({ path }: Pick<ExtensionFile, "path">): string {
  return safeLine(path);
}
