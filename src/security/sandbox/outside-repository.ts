/**
 * The git folder of a workspace that lies outside of it: in a folder above, or in the main repository of a worktree. A command
 * cannot commit unless it may write there; the user can allow that by adding the folder to the writable ones; its hooks
 * and configuration stay guarded.
 */
import { dirname, join } from "node:path";
import { isWorktreeAt, namedCommonFolder, namedGitFolder, statOf } from "../../system/git/git-folder.js";
import { realpathOrSelf } from "../../system/real-path.js";

/** Undefined when there is none, or when the repository does not name this workspace as its own. */
export function outsideGitFolder(workspace: string): string | undefined {
  const own = statOf(join(workspace, ".git"));
  if (own?.isFile()) return ofWorktree(workspace);
  if (own !== undefined) return undefined;
  for (let folder = dirname(workspace); ; folder = dirname(folder)) {
    const dotGit = join(folder, ".git");
    if (statOf(dotGit)?.isDirectory()) return dotGit;
    if (folder === dirname(folder)) return undefined;
  }
}

function ofWorktree(workspace: string): string | undefined {
  const dotGit = join(realpathOrSelf(workspace), ".git");
  const named = namedGitFolder(dotGit);
  if (named === undefined) return undefined;
  const gitFolder = realpathOrSelf(named);
  const common = namedCommonFolder(gitFolder);
  if (common === undefined || !isWorktreeAt(dotGit, gitFolder)) return undefined;
  return dirname(dirname(gitFolder)) === realpathOrSelf(common) ? realpathOrSelf(common) : undefined;
}
