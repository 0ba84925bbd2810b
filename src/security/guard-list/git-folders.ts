/** Changes that touch a git folder, or would make one. */
import { basename, dirname, join } from "node:path";
import { isGitFolder, isThere } from "../../system/git/git-folder.js";

/** Names what git reads of a repository. */
const PARTS: ReadonlySet<string> = new Set(
  (
    "HEAD config config.worktree commondir gitdir objects refs hooks info modules worktrees packed-refs index description branches " +
    "logs reftable shallow"
  ).split(" "),
);
const REASON = "git takes this folder for a repository and runs or obeys what is in it";

/**
 * Says why a change at `path` changes a git folder between it and `root`, or makes one. Only a file called `HEAD` turns a folder into a
 * git folder, so the other parts alone are harmless.
 */
export function gitFolderReason(path: string, root: string): string | undefined {
  if (plain(basename(path)) === "HEAD") return "a file of this name makes its folder a git repository";
  let inner = path;
  for (let folder = path; ; inner = folder, folder = dirname(folder)) {
    if (isGitFolder(folder)) return REASON;
    const makesOne = inner !== folder && PARTS.has(plain(basename(inner))) && isThere(join(folder, "HEAD"));
    if (makesOne) return REASON;
    if (folder === root || folder === dirname(folder)) return undefined;
  }
}

/** Only Linux always distinguishes `head` from `HEAD`. */
function plain(name: string): string {
  if (process.platform === "linux") return name;
  return name.toLowerCase() === "head" ? "HEAD" : name.toLowerCase();
}
