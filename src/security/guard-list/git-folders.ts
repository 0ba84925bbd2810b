/** Git folders by what is in them: with and without a work tree, of worktrees and submodules, under any name. */
import { lstatSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { smallText } from "./git-settings.js";

/** Any of them beside a `HEAD` makes a folder that git may take for a repository. */
const BESIDE_HEAD = ["objects", "refs", "commondir"];
/** What git reads of a repository. */
const PARTS: ReadonlySet<string> = new Set([
  ...[
    "HEAD",
    "config",
    "config.worktree",
    "commondir",
    "gitdir",
    "objects",
    "refs",
    "hooks",
    "info",
    "modules",
    "worktrees",
  ],
  ...["packed-refs", "index", "description", "branches", "logs", "reftable", "shallow"],
]);
const REASON = "git takes this folder for a repository and runs or obeys what is in it";

export function isGitFolder(folder: string): boolean {
  return isThere(join(folder, "HEAD")) && BESIDE_HEAD.some((name) => isThere(join(folder, name)));
}

/**
 * Why a change at `path` is one to a git folder between it and `root`, or would make one. A file called `HEAD` is the part that no
 * other folder has, so the other parts alone are harmless until it comes.
 */
export function gitFolderReason(path: string, root: string): string | undefined {
  if (isHead(basename(path))) return "a file of this name makes its folder a git repository";
  let inner = path;
  for (let folder = path; ; inner = folder, folder = dirname(folder)) {
    if (isGitFolder(folder)) return REASON;
    const makesOne = inner !== folder && PARTS.has(plain(basename(inner))) && isThere(join(folder, "HEAD"));
    if (makesOne) return REASON;
    if (folder === root || folder === dirname(folder)) return undefined;
  }
}

export interface GitFolder {
  /** Where relative paths in its settings begin. */
  readonly top: string;
  /** Its own and the shared configuration. */
  readonly configs: readonly string[];
}

/** The repository whose work tree begins in this folder, or which the folder itself is. */
export function gitFolderAt(top: string): GitFolder | undefined {
  const dotGit = join(top, ".git");
  if (isThere(dotGit)) return { top, configs: configsOf(followed(dotGit, top)) };
  return isGitFolder(top) ? { top, configs: configsOf(top) } : undefined;
}

/** The one around a folder. */
export function gitFolderAround(folder: string): GitFolder | undefined {
  for (let current = folder; ; current = dirname(current)) {
    const found = gitFolderAt(current);
    if (found !== undefined || current === dirname(current)) return found;
  }
}

function followed(dotGit: string, top: string): string {
  const target = /^gitdir: (.+)$/m.exec(smallText(dotGit))?.[1];
  return target === undefined ? dotGit : resolve(top, target.trimEnd());
}

function configsOf(folder: string): readonly string[] {
  const common = smallText(join(folder, "commondir")).trim();
  const folders = common === "" ? [folder] : [folder, resolve(folder, common)];
  return folders.flatMap((each) => [join(each, "config"), join(each, "config.worktree")]);
}

function isHead(name: string): boolean {
  return plain(name) === "HEAD";
}

/** Only Linux tells `head` from `HEAD` everywhere. */
function plain(name: string): string {
  if (process.platform === "linux") return name;
  return name.toLowerCase() === "head" ? "HEAD" : name.toLowerCase();
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
