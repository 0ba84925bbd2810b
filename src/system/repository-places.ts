/**
 * Describes where the files of a git repository really lie, and whether they belong to a workspace.
 *
 * They belong to it if they lie in it. They also belong to it if they lie outside, where nothing in the workspace can write, and
 * refer to the work tree: a repository in a folder above, the main repository of a linked worktree, the outer repository of a
 * submodule.
 */
import { readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isWorktreeAt, statOf } from "./git/git-folder.js";
import { textIfReadable } from "./git/plain-file.js";
import { namesIn } from "./names-in.js";
import { realpathOrSelf } from "./real-path.js";
import { isWithin } from "./within.js";

export interface RepositoryPlaces {
  /** The workspace. */
  readonly root: string;
  /** The top of the work tree. */
  readonly top: string;
  /** `.git`, or what it points to. */
  readonly gitDirectory: string;
  /** The folder that all worktrees share; usually the same one. */
  readonly common: string;
  /** `core.worktree`, when it is set. */
  readonly workTreeSetting: string | undefined;
}

/** Describes a part of the repository that lies outside and does not belong to the workspace; undefined if there is none. */
export function misplacedPart(places: RepositoryPlaces): string | undefined {
  const { root, top, gitDirectory, common } = places;
  if (isWithin(gitDirectory, root)) {
    if (!isWithin(top, root)) return `its work tree (${top})`;
    if (!isWithin(common, root)) return `its common folder (${common})`;
    return misplacedEntry(gitDirectory, root) ?? misplacedEntry(common, root);
  }
  if (!isWithin(root, top)) return `its work tree (${top})`;
  const isAbove = gitDirectory === join(top, ".git") && common === gitDirectory;
  if (!isAbove && !isLinkedWorktree(places) && !isSubmodule(places)) return `its git folder (${gitDirectory})`;
  const outer = outermostTop(common);
  return misplacedEntry(gitDirectory, outer) ?? misplacedEntry(common, outer);
}

/** The folder that holds the `.git` which this one is or lies in. */
function outermostTop(gitDirectory: string): string {
  let outer = gitDirectory;
  for (let folder = gitDirectory; folder !== dirname(folder); folder = dirname(folder)) {
    if (basename(folder) === ".git") outer = dirname(folder);
  }
  return outer;
}

function isLinkedWorktree({ top, gitDirectory, common }: RepositoryPlaces): boolean {
  return dirname(dirname(gitDirectory)) === common && isWorktreeAt(join(top, ".git"), gitDirectory);
}

function isSubmodule({ top, gitDirectory, common, workTreeSetting }: RepositoryPlaces): boolean {
  if (workTreeSetting === undefined || common !== gitDirectory) return false;
  return realpathOrSelf(resolve(gitDirectory, workTreeSetting)) === top;
}

const MAX_BORROWING = 5;

/** Lists where a link would lead git into another repository. */
const ENTRIES = ["refs/heads", "refs/tags", "refs/remotes"];
/** Git reads the files in these, and shows lines of some: `status` shows what a rebase has done. */
const FOLDERS = [".", "info", "objects", "objects/info", "objects/pack", "rebase-merge", "rebase-apply", "sequencer"];

function misplacedEntry(folder: string, root: string): string | undefined {
  const listed = FOLDERS.flatMap((name) => namesIn(join(folder, name)).map((entry) => join(name, entry)));
  for (const name of [...ENTRIES, ...listed]) {
    const path = join(folder, name);
    if (statOf(path)?.isSymbolicLink() !== true) continue;
    const target = targetOf(path);
    if (!isWithin(target, root)) return `its ${name} (${target})`;
  }
  return misplacedStore(join(folder, "objects"), { root, depth: 0 });
}

/** Git borrows objects from other stores, and from those that these borrow from. */
function misplacedStore(
  objects: string,
  { root, depth }: { readonly root: string; readonly depth: number },
): string | undefined {
  if (depth > MAX_BORROWING) return `an object store it borrows from (${objects})`;
  const list = join(objects, "info/alternates");
  const text = textIfReadable(list);
  if (text === undefined) return `the list of object stores it borrows from (${list})`;
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const store = realpathOrSelf(resolve(objects, line));
    if (!isWithin(store, root)) return `an object store it borrows from (${store})`;
    const further = misplacedStore(store, { root, depth: depth + 1 });
    if (further !== undefined) return further;
  }
  return undefined;
}

/** Finds where a link leads, even if nothing is there yet. */
function targetOf(link: string): string {
  try {
    return realpathSync(link);
  } catch {
    return resolve(dirname(link), readlinkSync(link));
  }
}
