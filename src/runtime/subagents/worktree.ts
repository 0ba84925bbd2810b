/**
 * A separate workspace for a subagent: a git worktree with a new branch.
 *
 * 1. It begins at the last commit of the session's repository. Changes that are not committed are not in it.
 * 2. Git runs no hook and no program of the repository: a repository whose configuration names programs gets no worktree. The subagent
 *    can write everything in the worktree, so git does not follow its `.git` file, nor repositories in it.
 * 3. At the end the changes are committed to the branch and the worktree is removed; a branch without changes is removed too.
 */
import { execFile } from "node:child_process";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Variables } from "../../base/variables.js";
import { QUIET_GIT_ENVIRONMENT } from "../../security/shell/programs/quiet-git.js";
import { isQuietRepository } from "../../security/shell/quiet-repository.js";
import { findProgram } from "../../system/find-program.js";
import { childEnvironment } from "../../tools/child-environment.js";

export interface Worktree {
  readonly root: string;
  /** Commits the changes; returns where they are, undefined without any. */
  keep(description: string): Promise<string | undefined>;
  remove(): Promise<void>;
}

export interface WorktreeOptions {
  /** The folder of the session, free of symbolic links. */
  readonly root: string;
  readonly variables: Variables;
  /** The end of the branch's name. */
  readonly name: string;
}

const TIMEOUT_MS = 60_000;
const MOST_BYTES = 16 * 1024 * 1024;
const NO_PROGRAMS = ["-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false", "-c", "diff.ignoreSubmodules=all"];
const AUTHOR = ["-c", "user.name=Oxbow", "-c", "user.email=oxbow@localhost"];

interface Git {
  run(folder: string, ...args: readonly string[]): Promise<string>;
  /** Whether git would run no program of the repository. */
  isQuiet(root: string): boolean;
  /** Works on a tree with this repository, ignoring the tree's `.git` file. */
  on(tree: string, repository: string): Git;
}

export async function openWorktree(options: WorktreeOptions): Promise<Worktree | { readonly problem: string }> {
  const { root, variables, name } = options;
  const environment = { ...childEnvironment(variables), ...QUIET_GIT_ENVIRONMENT };
  const program = findProgram("git", environment.PATH, { outside: root });
  if (program === undefined) return { problem: "It needs a worktree, and git is not installed." };
  const git = gitOf(program, environment);
  if (!git.isQuiet(root)) {
    const problem = `It needs a worktree, and ${root} is in no git repository, or in one whose configuration runs programs.`;
    return { problem };
  }
  const folder = await realpath(await mkdtemp(join(tmpdir(), "oxbow-worktree-")));
  const branch = `oxbow/agent-${name}`;
  try {
    const top = (await git.run(root, "rev-parse", "--show-toplevel")).trim();
    const prefix = (await git.run(root, "rev-parse", "--show-prefix")).trim();
    const base = (await git.run(root, "rev-parse", "HEAD")).trim();
    const tree = join(folder, "tree");
    // Without the lock, the end of another subagent prunes it if its `.git` file is missing at that moment.
    await git.run(top, "worktree", "add", "--quiet", "--lock", "-b", branch, tree, base);
    const repository = (await git.run(tree, "rev-parse", "--absolute-git-dir")).trim();
    return worktreeOf({ git, top, folder, branch, base, prefix, repository });
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    return { problem: `It needs a worktree, and git cannot make one: ${lastLine((error as Error).message)}` };
  }
}

interface Opened {
  readonly git: Git;
  readonly top: string;
  readonly folder: string;
  readonly branch: string;
  readonly base: string;
  readonly prefix: string;
  /** The folder in `.git` that belongs to the worktree. */
  readonly repository: string;
}

function worktreeOf({ git, top, folder, branch, base, prefix, repository }: Opened): Worktree {
  const tree = join(folder, "tree");
  const inside = git.on(tree, repository);
  let isKept = false;
  return {
    root: join(tree, prefix),
    keep: async (description) => {
      if (!git.isQuiet(top)) return `Its changes are lost: the configuration of ${top} now runs programs.`;
      await inside.run(tree, "add", "--all");
      const changed = await inside.run(tree, "diff", "--cached", "--name-only");
      if (changed !== "") await inside.run(tree, ...AUTHOR, "commit", "--quiet", "--no-verify", "-m", description);
      isKept = (await inside.run(tree, "rev-parse", "HEAD")).trim() !== base;
      if (!isKept) return undefined;
      const stat = (await inside.run(tree, "diff", "--shortstat", base, "HEAD")).trim();
      return `Its changes are not in the workspace but on the branch ${branch} (${stat}): 'git diff HEAD...${branch}' shows them.`;
    },
    remove: async () => {
      await rm(folder, { recursive: true, force: true });
      await rm(join(repository, "locked"), { force: true });
      await git.run(top, "worktree", "prune").catch(() => {});
      if (!isKept) await git.run(top, "branch", "-D", branch).catch(() => {});
    },
  };
}

function gitOf(program: string, environment: Readonly<Record<string, string>>): Git {
  const run = promisify(execFile);
  return {
    run: async (folder, ...args) => {
      const { stdout } = await run(program, ["--no-pager", ...NO_PROGRAMS, ...args], {
        cwd: folder,
        env: environment,
        timeout: TIMEOUT_MS,
        killSignal: "SIGKILL",
        maxBuffer: MOST_BYTES,
        encoding: "utf8",
      });
      return stdout;
    },
    isQuiet: (root) => isQuietRepository(root, { environment }),
    on: (tree, repository) => gitOf(program, { ...environment, GIT_DIR: repository, GIT_WORK_TREE: tree }),
  };
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}
