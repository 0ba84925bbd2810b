/**
 * Finds the places at the top of a writable folder that a command must not change.
 *
 * Where what it writes is held back, the gate judges everything else, deeper places too. Where it writes into the folder directly, nothing does:
 * a mount needs something to lie on, so a command can make a guarded name that does not exist, and change those further down.
 */
import { lstatSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isGitFolder, statOf } from "../../system/git/git-folder.js";
import { namesIn } from "../../system/names-in.js";
import { isWithin, outermost } from "../../system/within.js";
import { guardedEntries } from "../guard-list/guarded-names.js";
import type { SandboxPolicy } from "./policy.js";

export interface Guards {
  /** Folders on the way to a read-only place: a mount keeps them from being renamed. The outer ones come first. */
  readonly pinned: readonly string[];
  readonly readOnly: readonly string[];
}

export interface GuardRequest extends Pick<SandboxPolicy, "repositories"> {
  /** Writable folders, free of links. */
  readonly roots: readonly string[];
  /** Names in each root, or absolute paths. */
  readonly names: readonly string[];
  /** Whether the command writes into the folders directly. */
  readonly access: "direct" | "held";
}

const OBEYED_BY_GIT = "hooks config config.worktree commondir info/attributes".split(" ");

export function findGuards({ roots, names, repositories, access }: GuardRequest): Guards {
  const found = roots.flatMap((root) => {
    const git = repositories === "read-only" ? [".git"] : access === "direct" ? gitPlaces(root) : [];
    const known = access === "direct" ? guardedEntries("", namesIn(root)).filter((name) => name !== ".git") : [];
    return [...names, ...git, ...known]
      .map((name) => ({ root, path: resolve(root, name) }))
      .filter(({ path }) => isRealPlace(path, root));
  });
  const paths = [...new Set(found.map(({ path }) => path))].sort();
  const readOnly = outermost(paths);
  if (access === "held") return { pinned: [], readOnly };
  const ways = found.flatMap(({ root, path }) => foldersBetween(root, path));
  return {
    pinned: [...new Set(ways)].filter((path) => !readOnly.some((place) => isWithin(path, place))).sort(),
    readOnly,
  };
}

/** With a link among them, all of the git folder: what the link leads to could not be held. */
function gitPlaces(root: string): readonly string[] {
  const folder = isGitFolder(root) ? "." : ".git";
  const places = OBEYED_BY_GIT.map((name) => join(folder, name));
  const isOdd = places.some((place) => statOf(join(root, place))?.isSymbolicLink());
  return isOdd || statOf(join(root, ".git"))?.isFile() ? [".git"] : places;
}

function foldersBetween(root: string, path: string): readonly string[] {
  const folders: string[] = [];
  for (let folder = dirname(path); folder !== root && isWithin(folder, root); folder = dirname(folder))
    folders.push(folder);
  return folders;
}

/** Something below a root that can be mounted over itself. */
function isRealPlace(path: string, root: string): boolean {
  if (!isWithin(path, root) || path === root) return false;
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found !== undefined && !found.isSymbolicLink() && realpathSync(path) === path;
}
