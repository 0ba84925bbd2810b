/**
 * A workspace for a subagent that a hook makes instead of git.
 *
 * 1. It stays if the subagent changed something in it: Oxbow does not know how to store the changes.
 * 2. A hook that the project can change makes a new folder in the project: it cannot choose another folder that the subagent may change.
 */
import { lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { isWithin } from "../../system/within.js";
import type { WorktreeAnswer, WorktreeHooks } from "./context.js";
import type { Worktree } from "./worktree.js";

export interface HookWorktreeOptions {
  /** The folder of the session, free of symbolic links. */
  readonly root: string;
  readonly name: string;
  readonly hooks: WorktreeHooks;
  readonly signal: AbortSignal;
}

/** More files count as a change. */
const MOST_FILES = 50_000;
/** Clocks of file systems tick every few milliseconds. */
const TICK_MS = 20;
const OF_VERSION_CONTROL: ReadonlySet<string> = new Set([".git", ".hg", ".jj", ".svn"]);

export async function hookWorktree(options: HookWorktreeOptions): Promise<Worktree | { readonly problem: string }> {
  const { root, name, hooks, signal } = options;
  const from = Date.now();
  const answer = await hooks.fire("WorktreeCreate", { input: { name }, signal });
  const made = folderOf(answer, { root, from });
  if ("problem" in made) return { problem: `It needs a worktree, and the hook for it made none: ${made.problem}` };
  const { path } = made;
  const since = Date.now();
  let isKept = false;
  return {
    root: path,
    keep: async () => {
      isKept = hasChanged(path, since);
      return isKept ? `Its changes are not in the workspace but in the folder ${path}.` : undefined;
    },
    remove: async () => {
      if (!isKept) await hooks.fire("WorktreeRemove", { input: { worktree_path: path } });
    },
  };
}

function folderOf(
  { refuses, reason, stop, folder }: WorktreeAnswer,
  { root, from }: { readonly root: string; readonly from: number },
): { readonly path: string } | { readonly problem: string } {
  if (refuses || stop !== undefined) return { problem: stop ?? reason ?? "it gave no reason." };
  if (folder === undefined) return { problem: "it failed." };
  const path = realFolder(resolve(root, folder.path));
  if (path === undefined) return { problem: `there is no folder ${folder.path}` };
  if (isWithin(root, path)) return { problem: `${path} is not separate from the workspace` };
  if (folder.isOfProject && (!isWithin(path, root) || isWithin(path, join(root, ".git"))))
    return { problem: `a hook of the project can make it in the project only, not in ${path}` };
  if (folder.isOfProject && statSync(path).birthtimeMs < from - TICK_MS)
    return { problem: `a hook of the project must make a new folder, and ${path} is not new` };
  return { path };
}

function realFolder(path: string): string | undefined {
  try {
    const real = realpathSync(path);
    return statSync(real).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}

function hasChanged(folder: string, since: number): boolean {
  const waiting = [folder];
  let count = 0;
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) continue;
    if (stat.ctimeMs > since || ++count > MOST_FILES) return true;
    if (!stat.isDirectory()) continue;
    for (const name of readdirSync(path)) if (!OF_VERSION_CONTROL.has(name)) waiting.push(join(path, name));
  }
  return false;
}
