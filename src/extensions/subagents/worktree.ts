/**
 * A separate workspace for a subagent: a git worktree with a new branch.
 *
 * 1. It begins at the last commit of the session's repository. Changes that are not committed are not in it.
 * 2. Git runs no hook and no program of the repository: a repository whose configuration names programs gets no worktree. The subagent
 *    can write everything in the worktree, so git does not follow its `.git` file, nor repositories in it.
 * 3. At the end the changes are committed to the branch and the worktree is removed; a branch without changes is removed too.
 * 4. A record in Oxbow's own folder names each worktree, and its process holds a lock on the record. After a kill, the next start gets
 *    the lock and ends the worktree in the same way.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeFileAtomic } from "../../system/atomic-file.js";
import { holdLock } from "../../system/file-lock.js";
import { findGit, type Git, lastLine, type QuietGit } from "../../system/git/run-git.js";
import { nodeClock } from "../../system/node-clock.js";

export interface Worktree {
  readonly root: string;
  /** Commits the changes; returns where they are, undefined without any. */
  keep(description: string): Promise<string | undefined>;
  remove(): Promise<void>;
}

export interface WorktreeOptions {
  /** The folder of the session, free of symbolic links. */
  readonly root: string;
  readonly git: QuietGit;
  /** The end of the branch's name. */
  readonly name: string;
  readonly description: string;
  /** The folder of the records. */
  readonly records: string;
}

const AUTHOR = ["-c", "user.name=Oxbow", "-c", "user.email=oxbow@localhost"];

export async function openWorktree(options: WorktreeOptions): Promise<Worktree | { readonly problem: string }> {
  const { root, name, description, records } = options;
  const git = findGit(root, options.git);
  if (git === undefined) return { problem: "It needs a worktree, and git is not installed." };
  if (!git.isQuiet(root)) {
    const problem = `It needs a worktree, and ${root} is in no git repository, or in one whose configuration runs programs.`;
    return { problem };
  }
  const folder = await realpath(await mkdtemp(join(tmpdir(), "oxbow-worktree-")));
  const branch = `oxbow/agent-${name}`;
  const record = join(records, `${name}.json`);
  await mkdir(records, { recursive: true, mode: 0o700 });
  const lock = await holdLock(`${record}.lock`, { clock: nodeClock });
  const release = async () => {
    await rm(record, { force: true });
    lock.release();
  };
  try {
    const top = (await git.run(root, "rev-parse", "--show-toplevel")).trim();
    const prefix = (await git.run(root, "rev-parse", "--show-prefix")).trim();
    const base = (await git.run(root, "rev-parse", "HEAD")).trim();
    const tree = join(folder, "tree");
    const common = (await git.run(root, "rev-parse", "--path-format=absolute", "--git-common-dir")).trim();
    const place = { top, folder, branch, base };
    // Before git makes anything, because a kill can come at any moment.
    await writeFileAtomic(record, JSON.stringify({ ...place, common, description }), { mode: 0o600 });
    // Without the lock, the end of another subagent prunes it if its `.git` file is missing at that moment.
    await git.run(top, "worktree", "add", "--quiet", "--lock", "-b", branch, tree, base);
    const repository = (await git.run(tree, "rev-parse", "--absolute-git-dir")).trim();
    const { keep, remove } = endingOf({ git, ...place, repository });
    return {
      root: join(tree, prefix),
      keep,
      remove: async () => {
        await remove();
        await release();
      },
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    await release();
    return { problem: `It needs a worktree, and git cannot make one: ${lastLine((error as Error).message)}` };
  }
}

/** A worktree whose process was killed. */
export interface LeftWorktree {
  readonly top: string;
  readonly folder: string;
  readonly branch: string;
  readonly base: string;
  readonly description: string;
  /** The repository with all its worktrees. */
  readonly common: string;
}

export function leftWorktrees(records: string): Promise<readonly LeftWorktree[]> {
  return ofLeft(records, async (left) => left);
}

/** Ends what killed processes left, and says where their work is: one sentence for each that has any. What cannot be ended now stays. */
export async function sweepWorktrees(records: string, git: QuietGit): Promise<readonly string[]> {
  const news = await ofLeft(records, async (left, record) => {
    try {
      const kept = await endLeft(left, git);
      await rm(record, { force: true });
      return kept && `A subagent in ${left.top} was killed (${left.description}). ${kept}`;
    } catch (error) {
      const cause = lastLine((error as Error).message);
      return `The worktree ${join(left.folder, "tree")} of a killed subagent stays for now: ${cause}`;
    }
  });
  return news.filter((each) => each !== undefined);
}

/** Runs an action for each record that no live process has, one after the other. */
async function ofLeft<T>(
  records: string,
  action: (left: LeftWorktree, record: string) => Promise<T>,
): Promise<readonly T[]> {
  const done: T[] = [];
  const names = existsSync(records) ? readdirSync(records).filter((name) => name.endsWith(".json")) : [];
  for (const name of names) {
    const record = join(records, name);
    const lock = await holdLock(`${record}.lock`, { clock: nodeClock, patienceMs: 0 }).catch(() => undefined);
    if (lock === undefined) continue;
    try {
      // Another process may have ended it in between.
      if (existsSync(record)) done.push(await action(JSON.parse(readFileSync(record, "utf8")), record));
    } finally {
      lock.release();
    }
  }
  return done;
}

async function endLeft(left: LeftWorktree, quiet: QuietGit): Promise<string | undefined> {
  const { top, folder, branch, base, common, description } = left;
  // The repository is gone: only the folder is left.
  if (!existsSync(common)) return void (await rm(folder, { recursive: true, force: true }));
  const git = findGit(top, quiet);
  if (git === undefined) throw new Error("git is not installed.");
  if (!git.isQuiet(top)) throw new Error(`the configuration of ${top} runs programs.`);
  const tree = join(folder, "tree");
  const repository = repositoryOf(tree, common);
  const ending = endingOf({ git, top, folder, branch, base, repository: repository ?? "" });
  if (repository !== undefined && existsSync(tree)) {
    // A git command of the subagent was killed with it.
    await rm(join(repository, "index.lock"), { force: true });
    const kept = await ending.keep(`${description} (cut off by a kill)`);
    await ending.remove();
    return kept;
  }
  // The folder for temporary files was emptied: what the subagent committed is on the branch.
  const tip = (await git.run(top, "branch", "--list", "--format=%(objectname)", branch)).trim();
  await ending.remove(tip === base ? "with its branch" : "only the worktree");
  return tip === "" || tip === base ? undefined : `Its commits are on the branch ${branch}.`;
}

/** The folder in `.git` that belongs to a worktree. The worktree's own `.git` file does not count: a subagent can change it. */
function repositoryOf(tree: string, common: string): string | undefined {
  const all = join(common, "worktrees");
  const names = existsSync(all) ? readdirSync(all) : [];
  const name = names.find((each) => {
    const file = join(all, each, "gitdir");
    return existsSync(file) && readFileSync(file, "utf8").trim() === join(tree, ".git");
  });
  return name === undefined ? undefined : join(all, name);
}

interface Opened {
  readonly git: Git;
  readonly top: string;
  readonly folder: string;
  readonly branch: string;
  readonly base: string;
  /** The folder in `.git` that belongs to the worktree. */
  readonly repository: string;
}

type Ending = Pick<Worktree, "keep"> & {
  remove(what?: "with its branch" | "only the worktree"): Promise<void>;
};

function endingOf({ git, top, folder, branch, base, repository }: Opened): Ending {
  const tree = join(folder, "tree");
  const inside = git.on(tree, repository);
  let isKept = false;
  return {
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
    remove: async (what = isKept ? "only the worktree" : "with its branch") => {
      await rm(folder, { recursive: true, force: true });
      if (repository !== "") await rm(join(repository, "locked"), { force: true });
      await git.run(top, "worktree", "prune").catch(() => {});
      if (what === "with its branch") await git.run(top, "branch", "-D", branch).catch(() => {});
    },
  };
}
