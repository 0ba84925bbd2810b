/**
 * The git folder of a workspace that lies outside of it: in a folder above, or in the main repository of a worktree. A command
 * cannot commit unless it may write there, and a person can allow that by adding the folder to the writable ones; its hooks
 * and configuration stay guarded.
 */
import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** Undefined when there is none, or when nothing out there vouches for the workspace. */
export function outsideGitFolder(workspace: string): string | undefined {
  const own = lstatSync(join(workspace, ".git"), { throwIfNoEntry: false });
  if (own?.isFile()) return ofWorktree(workspace);
  if (own !== undefined) return undefined;
  for (let folder = dirname(workspace); ; folder = dirname(folder)) {
    const dotGit = join(folder, ".git");
    if (lstatSync(dotGit, { throwIfNoEntry: false })?.isDirectory()) return dotGit;
    if (folder === dirname(folder)) return undefined;
  }
}

/** The main repository names the worktree in turn; a `.git` file planted in the workspace cannot have that written there. */
function ofWorktree(workspace: string): string | undefined {
  try {
    const told = /^gitdir: (.+)$/m.exec(readFileSync(join(workspace, ".git"), "utf8"))?.[1]?.trimEnd();
    if (told === undefined) return undefined;
    const gitFolder = realpathSync(resolve(workspace, told));
    const back = readFileSync(join(gitFolder, "gitdir"), "utf8").trimEnd();
    if (realpathSync(resolve(gitFolder, back)) !== join(realpathSync(workspace), ".git")) return undefined;
    const common = realpathSync(resolve(gitFolder, readFileSync(join(gitFolder, "commondir"), "utf8").trimEnd()));
    return dirname(dirname(gitFolder)) === common ? common : undefined;
  } catch {
    return undefined;
  }
}
