/** Makes everything of git read-only, for commands that run without asking. */
import { join } from "node:path";
import { isGitFolder, statOf } from "../../system/git/git-folder.js";
import { isWithin } from "../../system/within.js";
import type { Guards } from "./guards.js";

/** Folders that hold a `.git`, or are a repository without a work tree; those without either do not matter. */
export function withRepositoriesShut(guards: Guards, folders: readonly string[]): Guards {
  const shut = folders.flatMap((folder) => {
    if (isGitFolder(folder)) return [folder];
    const dotGit = join(folder, ".git");
    const found = statOf(dotGit);
    // A link cannot be a mount point; its target is guarded in its own place.
    return found === undefined || found.isSymbolicLink() ? [] : [dotGit];
  });
  const isShut = (path: string) => shut.some((folder) => isWithin(path, folder));
  const readOnly = [...guards.readOnly.filter((path) => !isShut(path)), ...shut].sort();
  const inReadOnly = (path: string) => readOnly.some((folder) => folder !== path && isWithin(path, folder));
  return {
    pinned: guards.pinned.filter((path) => !isShut(path)),
    readOnly: readOnly.filter((path) => !inReadOnly(path)),
    missing: guards.missing.filter(({ path }) => !isShut(path)),
  };
}
