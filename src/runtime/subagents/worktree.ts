/**
 * A workspace of its own for a subagent: a git worktree with a new branch.
 *
 * 1. It begins at the last commit of the session's repository. Changes that are not committed are not in it.
 * 2. Git runs no hook and no program of the repository: a repository whose configuration names programs gets no worktree.
 * 3. At the end the changes are committed to the branch and the worktree goes; a branch without changes goes too.
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
const NO_PROGRAMS = ["-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false"];
const AUTHOR = ["-c", "user.name=Oxbow", "-c", "user.email=oxbow@localhost"];

type Git = (folder: string, ...args: readonly string[]) => Promise<string>;

export async function openWorktree(options: WorktreeOptions): Promise<Worktree | { readonly problem: string }> {
  const { root, variables, name } = options;
  const environment = { ...childEnvironment(variables), ...QUIET_GIT_ENVIRONMENT };
  const program = findProgram("git", environment.PATH, { outside: root });
  if (program === undefined) return { problem: "It needs a worktree, and git is not installed." };
  if (!isQuietRepository(root, { environment })) {
    const problem = `It needs a worktree, and ${root} is in no git repository, or in one whose configuration runs programs.`;
    return { problem };
  }
  const git = gitRunner(program, environment);
  const folder = await realpath(await mkdtemp(join(tmpdir(), "oxbow-worktree-")));
  const branch = `oxbow/agent-${name}`;
  try {
    const top = (await git(root, "rev-parse", "--show-toplevel")).trim();
    const prefix = (await git(root, "rev-parse", "--show-prefix")).trim();
    const base = (await git(root, "rev-parse", "HEAD")).trim();
    await git(top, "worktree", "add", "--quiet", "-b", branch, join(folder, "tree"), base);
    return worktreeOf({ git, top, folder, branch, base, prefix });
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
}

function worktreeOf({ git, top, folder, branch, base, prefix }: Opened): Worktree {
  const tree = join(folder, "tree");
  let isKept = false;
  return {
    root: join(tree, prefix),
    keep: async (description) => {
      await git(tree, "add", "--all");
      const changed = await git(tree, "status", "--porcelain");
      if (changed !== "") await git(tree, ...AUTHOR, "commit", "--quiet", "--no-verify", "-m", description);
      isKept = (await git(tree, "rev-parse", "HEAD")).trim() !== base;
      if (!isKept) return undefined;
      const stat = (await git(tree, "diff", "--shortstat", base, "HEAD")).trim();
      return `Its changes are not in the workspace but on the branch ${branch} (${stat}): 'git diff HEAD...${branch}' shows them.`;
    },
    remove: async () => {
      await git(top, "worktree", "remove", "--force", tree).catch(() => {});
      await rm(folder, { recursive: true, force: true });
      await git(top, "worktree", "prune").catch(() => {});
      if (!isKept) await git(top, "branch", "-D", branch).catch(() => {});
    },
  };
}

function gitRunner(program: string, environment: Readonly<Record<string, string>>): Git {
  const run = promisify(execFile);
  return async (folder, ...args) => {
    const { stdout } = await run(program, ["--no-pager", ...NO_PROGRAMS, ...args], {
      cwd: folder,
      env: environment,
      timeout: TIMEOUT_MS,
      killSignal: "SIGKILL",
      maxBuffer: MOST_BYTES,
      encoding: "utf8",
    });
    return stdout;
  };
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}
