/** Reads which branch is checked out, without git: what a repository sets must not run anything. */
import { join } from "node:path";
import { gitFolderAround, namedGitFolder } from "./git-folder.js";
import { smallText } from "./plain-file.js";

/** The branch, or the beginning of the commit that is checked out without one. */
export function branchOf(root: string): string | undefined {
  const top = gitFolderAround(root)?.top;
  if (top === undefined) return undefined;
  const dotGit = join(top, ".git");
  const head = smallText(join(namedGitFolder(dotGit) ?? dotGit, "HEAD")).trim();
  const [, branch] = /^ref: refs\/heads\/(.+)$/.exec(head) ?? [];
  return branch ?? (/^[0-9a-f]{40,64}$/.test(head) ? head.slice(0, 8) : undefined);
}
