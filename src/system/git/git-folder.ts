/** Recognises git folders by their content: with and without a work tree, of worktrees and submodules, under any name. */
import { lstatSync, type Stats } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fsPath } from "../path-bytes.js";
import { realpathOrSelf } from "../real-path.js";
import { smallText } from "./plain-file.js";

/** Git needs `objects` and `refs`, or `commondir`. One of them alone counts: the other may come next. */
const BESIDE_HEAD = ["objects", "refs", "commondir"];

export function isGitFolder(folder: string): boolean {
  return mayBeGitFolder((name) => isThere(join(folder, name)));
}

/** The same for a folder that was listed. */
export function mayBeGitFolder(has: (name: string) => boolean): boolean {
  return has("HEAD") && BESIDE_HEAD.some(has);
}

export interface GitFolder {
  /** The base of relative paths in its settings. */
  readonly top: string;
  /** Its own and the shared configuration. */
  readonly configs: readonly string[];
}

/** The repository whose work tree begins in this folder, or which the folder itself is. */
function gitFolderAt(top: string): GitFolder | undefined {
  const dotGit = join(top, ".git");
  if (isThere(dotGit)) return { top, configs: configsOf(namedGitFolder(dotGit) ?? dotGit) };
  return isGitFolder(top) ? { top, configs: configsOf(top) } : undefined;
}

/** The one around a folder. */
export function gitFolderAround(folder: string): GitFolder | undefined {
  for (let current = folder; ; current = dirname(current)) {
    const found = gitFolderAt(current);
    if (found !== undefined || current === dirname(current)) return found;
  }
}

/** Finds where a `.git` file leads. The rest of the text is the path, as git reads it: a line break may be part of it. */
export function namedGitFolder(dotGit: string): string | undefined {
  const text = smallText(dotGit);
  return text.startsWith("gitdir: ") ? resolve(dirname(dotGit), withoutEnd(text.slice("gitdir: ".length))) : undefined;
}

/** The path in `commondir`, absolute; undefined if the file is missing or empty. */
export function namedCommonFolder(gitFolder: string): string | undefined {
  const text = withoutEnd(smallText(join(gitFolder, "commondir")));
  return text === "" ? undefined : resolve(gitFolder, text);
}

/** The main repository lists its worktrees. A planted `.git` file elsewhere cannot add itself to that list. */
export function isWorktreeAt(dotGit: string, gitFolder: string): boolean {
  const back = smallText(join(gitFolder, "gitdir")).trimEnd();
  return back !== "" && realpathOrSelf(resolve(gitFolder, back)) === dotGit;
}

function configsOf(folder: string): readonly string[] {
  const common = namedCommonFolder(folder);
  const folders = common === undefined ? [folder] : [folder, common];
  return folders.flatMap((each) => [join(each, "config"), join(each, "config.worktree")]);
}

function withoutEnd(text: string): string {
  return text.replace(/[\r\n]+$/, "");
}

/** Does not follow a link. Undefined also if the entry cannot be read. */
export function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(fsPath(path), { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

export function isThere(path: string): boolean {
  return statOf(path) !== undefined;
}

/** Also true if the entry cannot be read. */
export function mayBeThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}
