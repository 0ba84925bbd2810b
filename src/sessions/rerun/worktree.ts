/**
 * The folder of a rerun: a git worktree with the files of the workspace as they were at a moment of a session.
 *
 * 1. It is the last commit, then the changes of the workspace that are not committed, then what the undo records say about that moment.
 *    Ignored files are not in it. What is not available is said, never guessed.
 * 2. Git runs no hook and no program of the repository. Nothing is written outside of the new folder, and nothing in the workspace changes.
 * 3. It stays until its session is deleted: the session works there, and its changes are to be looked at.
 * 4. The tools of a rerun can write everything in its folder, so git never follows the `.git` file there: the repository is that of the
 *    workspace in which the first session worked, `home`.
 */
import { constants, existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { chmod, copyFile, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join, relative } from "node:path";
import { findGit, type Git, lastLine, type QuietGit } from "../../system/git/run-git.js";
import { shownPath } from "../../system/path-bytes.js";
import { isWithin } from "../../system/within.js";
import type { PastEntry } from "../undo/past.js";

/** The name of its folder and of its branch begins with it. */
const FOLDER = "oxbow-rerun-";
const TREE = "tree";

export interface RerunFolder {
  /** The folder that the session works in. */
  readonly root: string;
  /** The top of the worktree. */
  readonly top: string;
  /** The top of the workspace's repository. */
  readonly from: string;
  readonly branch: string;
  /** Names what differs from that moment or is not known, as sentences. */
  readonly notes: readonly string[];
}

export interface RerunFolderOptions {
  /** The folder of the session, free of symbolic links. */
  readonly root: string;
  /** The folder of the first session, if this one is a rerun; else the same. */
  readonly home: string;
  readonly git: QuietGit;
  /** The end of the branch's name. */
  readonly name: string;
  /** The time at which the turn began that runs again. */
  readonly since: string;
  /** The paths that the session changed since then, as they were. */
  readonly past: ReadonlyMap<string, PastEntry>;
}

export async function openRerunFolder(
  options: RerunFolderOptions,
): Promise<RerunFolder | { readonly problem: string }> {
  const { root, home, name, since, past } = options;
  const git = findGit(home, options.git);
  if (git === undefined) return { problem: "it needs a git worktree, and git is not installed" };
  if (!git.isQuiet(home))
    return {
      problem: `it needs a git worktree, and ${home} is in no git repository, or in one whose configuration runs programs`,
    };
  const folder = await realpath(await mkdtemp(join(tmpdir(), FOLDER)));
  const top = join(folder, TREE);
  const branch = `oxbow/rerun-${name}`;
  try {
    const main = await topOfRepository(git, home);
    const from = rerunTop(root) ?? main;
    const repository = worktreeIn(main, from);
    if (from !== main && repository === undefined) throw new Error(`${main} has no worktree ${from}`);
    const there = repository === undefined ? git : git.on(from, repository);
    const base = (await there.run(from, "rev-parse", "HEAD")).trim();
    await git.run(main, "worktree", "add", "--quiet", "-b", branch, top, base);
    const inside = join(top, relative(from, root));
    await mkdir(inside, { recursive: true });
    const tree = new Tree(top);
    const open = await uncommitted(there, from);
    await tree.take(from, open);
    const wrong = await tree.restore(inside, past);
    const known = new Set([...past.keys()].map((path) => relative(from, join(root, path))));
    const later = open.filter((path) => !known.has(path) && changedAfter(join(from, path), since));
    const notes = [...wrong, ...tree.problems, ...othersNotes(later, await commitsSince(there, from, since))];
    return { root: inside, top, from, branch, notes };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    await git.run(home, "worktree", "prune").catch(() => {});
    await git.run(home, "branch", "-D", branch).catch(() => {});
    return { problem: `git cannot make a worktree: ${lastLine((error as Error).message)}` };
  }
}

/** Removes the folder of a rerun with its branch. Does nothing for any other folder; a branch with commits of its own stays. */
export async function removeRerunFolder(
  root: string,
  { home, git: quiet }: { readonly home: string; readonly git: QuietGit },
): Promise<void> {
  const top = rerunTop(root);
  if (top === undefined) return;
  await rm(dirname(top), { recursive: true, force: true });
  const git = existsSync(home) ? findGit(home, quiet) : undefined;
  if (git?.isQuiet(home) !== true) return;
  const main = await topOfRepository(git, home);
  const repository = worktreeIn(main, top);
  if (repository === undefined) return;
  const head = readFileSync(join(repository, "HEAD"), "utf8");
  await git.run(main, "worktree", "prune").catch(() => {});
  const branch = /^ref: refs\/heads\/(oxbow\/rerun-[a-z0-9]+)\n$/.exec(head)?.[1];
  if (branch !== undefined) await git.run(main, "branch", "-d", branch).catch(() => {});
}

async function topOfRepository(git: Git, folder: string): Promise<string> {
  return realpathSync((await git.run(folder, "rev-parse", "--show-toplevel")).trim());
}

/** The top of the worktree that a folder is in; undefined for any folder that is not that of a rerun. */
export function rerunTop(root: string): string | undefined {
  const temporary = realpathSync(tmpdir());
  if (!isWithin(root, temporary)) return undefined;
  const [folder = "", tree] = relative(temporary, root).split("/");
  return folder.startsWith(FOLDER) && tree === TREE ? join(temporary, folder, TREE) : undefined;
}

/** The folder in `.git` that belongs to a worktree; undefined if the repository has no such worktree. */
function worktreeIn(main: string, top: string): string | undefined {
  const all = join(main, ".git", "worktrees");
  const names = existsSync(all) ? readdirSync(all) : [];
  const name = names.find((each) => {
    const file = join(all, each, "gitdir");
    return existsSync(file) && readFileSync(file, "utf8").trim() === join(top, ".git");
  });
  return name === undefined ? undefined : join(all, name);
}

/** Paths below the top that differ from the last commit, or are new and not ignored. */
async function uncommitted(git: Git, top: string): Promise<readonly string[]> {
  const changed = await git.run(top, "diff", "--name-only", "--no-renames", "-z", "HEAD");
  const fresh = await git.run(top, "ls-files", "-z", "--others", "--exclude-standard");
  return [...new Set([...changed.split("\0"), ...fresh.split("\0")])].filter(
    (path) => path !== "" && !path.endsWith("/"),
  );
}

async function commitsSince(git: Git, top: string, since: string): Promise<number> {
  return Number(await git.run(top, "rev-list", "--count", `--since=${since}`, "HEAD"));
}

function changedAfter(path: string, since: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found !== undefined && found.mtimeMs > Date.parse(since);
}

const MOST_NAMED = 5;

function othersNotes(later: readonly string[], commits: number): readonly string[] {
  const notes: string[] = [];
  if (commits > 0)
    notes.push(
      `The repository has ${commits} ${commits === 1 ? "commit" : "commits"} since then: other files in them are as they are now.`,
    );
  if (later.length > 0) {
    const named = later.slice(0, MOST_NAMED).map(shownPath).join(", ");
    const more = later.length > MOST_NAMED ? ` and ${later.length - MOST_NAMED} more` : "";
    notes.push(`Something else changed these since then, so they are as they are now: ${named}${more}.`);
  }
  return notes;
}

/** Writes into the new folder, and nowhere else: a link in a tracked path is never followed. */
class Tree {
  readonly #top: string;
  readonly problems: string[] = [];

  constructor(top: string) {
    this.#top = top;
  }

  /** Copies the paths of another tree as they are there; a path that is missing there goes. */
  async take(from: string, paths: readonly string[]): Promise<void> {
    for (const path of paths) await rm(join(this.#top, path), { recursive: true, force: true });
    for (const path of paths) {
      const source = join(from, path);
      const found = lstatSync(source, { throwIfNoEntry: false });
      const to = join(this.#top, path);
      if (found === undefined || found.isDirectory() || !(await this.#hasWay(to))) continue;
      if (found.isSymbolicLink()) await symlink(readlinkSync(source), to);
      else if (found.isFile()) await this.#copy(source, to, found.mode);
    }
  }

  async #copy(source: string, to: string, mode: number): Promise<void> {
    try {
      await copyFile(source, to, constants.COPYFILE_FICLONE);
      await chmod(to, mode & 0o777);
    } catch (error) {
      this.problems.push(`${shownPath(relative(this.#top, to))} could not be copied: ${(error as Error).message}`);
    }
  }

  /** Makes paths below a folder what they were; says which could not be. */
  async restore(folder: string, past: ReadonlyMap<string, PastEntry>): Promise<readonly string[]> {
    const notes: string[] = [];
    const paths = [...past].sort(([one], [other]) => one.length - other.length);
    for (const [path, { state }] of paths.toReversed()) {
      if (isAbsolute(path)) notes.push(`${shownPath(path)} is outside of the workspace: it is as it is now.`);
      else if (state?.kind !== "folder" && (await this.#hasWay(join(folder, path))))
        await rm(join(folder, path), { recursive: true, force: true });
    }
    for (const [path, { state, bytes, missing }] of paths) {
      const at = join(folder, path);
      if (isAbsolute(path) || state === undefined) continue;
      if (missing !== undefined) notes.push(`${shownPath(path)} is missing: ${missing}.`);
      else if (await this.#hasWay(at)) {
        if (state.kind === "folder") await mkdir(at, { recursive: true });
        else if (state.kind === "link") await symlink(state.target ?? "", at);
        else if (bytes !== undefined) await writeFile(at, bytes, { flag: "wx", mode: (state.mode ?? 0o644) & 0o777 });
      } else notes.push(`${shownPath(path)} is missing: its folder is a link, or not in the worktree.`);
    }
    return notes;
  }

  /** Tells whether the folder of a path is in the tree; makes it if it is missing. */
  async #hasWay(path: string): Promise<boolean> {
    let above = dirname(path);
    while (!existsSync(above)) above = dirname(above);
    if (!isWithin(realpathSync(above), this.#top)) return false;
    try {
      await mkdir(dirname(path), { recursive: true });
      return isWithin(realpathSync(dirname(path)), this.#top);
    } catch {
      return false;
    }
  }
}
