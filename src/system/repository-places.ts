/**
 * Where the files of a git repository really lie, and whether they belong to a workspace.
 *
 * They do when they lie in it; or when they lie outside and vouch for the work tree from there, where nothing in the
 * workspace can have written: a repository in a folder above, the main repository of a linked worktree, the outer
 * repository of a submodule.
 */
import { constants, copyFileSync, lstatSync, readFileSync, realpathSync, rmSync, statSync, utimesSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { makeTemporaryFolder } from "./temporary-entries.js";
import { isWithin } from "./within.js";

export interface RepositoryPlaces {
  /** The workspace. */
  readonly root: string;
  /** The top of the work tree. */
  readonly top: string;
  /** `.git`, or what it points to. */
  readonly gitDirectory: string;
  /** What all worktrees share; mostly the same folder. */
  readonly common: string;
  /** `core.worktree`, when it is set. */
  readonly workTreeSetting: string | undefined;
}

/** The same places as git told them, free of links. */
export function realPlaces(told: RepositoryPlaces): RepositoryPlaces {
  return {
    ...told,
    top: realpathSync(told.top),
    gitDirectory: realpathSync(told.gitDirectory),
    common: realpathSync(resolve(told.root, told.common)),
  };
}

/** What of the repository lies outside without belonging here, in words; undefined when all is well. */
export function misplacedPart(places: RepositoryPlaces): string | undefined {
  const { root, top, gitDirectory, common } = places;
  if (isWithin(gitDirectory, root)) {
    if (!isWithin(top, root)) return `its work tree (${top})`;
    if (!isWithin(common, root)) return `its common folder (${common})`;
    return misplacedEntry(gitDirectory, root) ?? misplacedEntry(common, root);
  }
  if (!isWithin(root, top)) return `its work tree (${top})`;
  const isAbove = gitDirectory === join(top, ".git") && common === gitDirectory;
  return isAbove || isLinkedWorktree(places) || isSubmodule(places) ? undefined : `its git folder (${gitDirectory})`;
}

/** The main repository names the worktree; a `.git` file planted in the workspace cannot have that written there. */
function isLinkedWorktree({ top, gitDirectory, common }: RepositoryPlaces): boolean {
  const back = readIfThere(join(gitDirectory, "gitdir")).trimEnd();
  if (back === "" || dirname(dirname(gitDirectory)) !== common) return false;
  return realpathOrSelf(resolve(gitDirectory, back)) === join(top, ".git");
}

function isSubmodule({ top, gitDirectory, common, workTreeSetting }: RepositoryPlaces): boolean {
  if (workTreeSetting === undefined || common !== gitDirectory) return false;
  return realpathOrSelf(resolve(gitDirectory, workTreeSetting)) === top;
}

/** Where a link would lead git into another repository. */
const ENTRIES = [
  ..."HEAD config config.worktree index packed-refs shallow info logs modules worktrees".split(" "),
  ..."refs refs/heads refs/tags refs/remotes objects objects/pack objects/info reftable".split(" "),
];

function misplacedEntry(folder: string, root: string): string | undefined {
  for (const name of ENTRIES) {
    const path = join(folder, name);
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) continue;
    const target = realpathOrSelf(path);
    if (!isWithin(target, root)) return `its ${name} (${target})`;
  }
  for (const line of readIfThere(join(folder, "objects/info/alternates")).split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const store = realpathOrSelf(resolve(folder, "objects", line));
    if (!isWithin(store, root)) return `an object store it borrows from (${store})`;
  }
  return undefined;
}

/** Whether there is something, be it a link that leads nowhere. */
export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** The folder free of links, or as it is when it does not exist. */
export function realpathOrSelf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

export interface IndexCopy {
  readonly path: string;
  remove(): void;
}

/**
 * A copy of the index, for commands that would write to it. It is made to look a little older than the original: git looks
 * again at files that are not older than the index, and must not look at fewer. Undefined when there is no index.
 */
export function copyIndex(gitDirectory: string): IndexCopy | undefined {
  const original = join(gitDirectory, "index");
  const found = statSync(original, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  const folder = makeTemporaryFolder("git");
  const path = join(folder, "index");
  copyFileSync(original, path, constants.COPYFILE_FICLONE);
  const time = Math.floor(found.mtimeMs - 1) / 1000;
  utimesSync(path, time, time);
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
