/**
 * Applies a change set to the real folder.
 *
 * 1. What the command wrote is on the disk, and then the plan, before the first step (`flushWritten`, `writePlan`). After a crash, `finish` takes
 *    the steps that are left: a step that was taken has no source in the upper layer any more, or nothing left to remove. A plan that
 *    cannot be read was never begun. What was changed is on the disk before the plan goes (`dropPlan`).
 * 2. What another program changed since the command started is kept. The command's version is put beside it as `NAME.oxbow`.
 * 3. Each folder on the way is opened without following links (`held-folder.ts`), so nothing outside the root is reached.
 * 4. Removals come first, the deepest before the others, then creations from the top down: a folder can replace a file and the reverse.
 * 5. While a repository changes, git's own locks are held there. What git changed meanwhile refuses the whole plan: a part of it makes no sense.
 * 6. A file is moved out of the upper layer where both are on one file system, and copied beside its place otherwise. A reader sees the old
 *    file or the new one.
 */
import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fsync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { copyFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { setImmediate } from "node:timers/promises";
import { plainName } from "../../base/plain-name.js";
import { SYSTEM_PATH } from "../../base/system-path.js";
import { HeldFolder, WayBlockedError } from "../held-folder.js";
import { fsPath, linkTarget, namesIn } from "../path-bytes.js";
import { entryOf, fileBytes, type HeldChange, type HeldEntry, isWholeGone, look, OPEN_FOLDER } from "./change-set.js";

export interface ApplyPlan {
  /** The real folder. */
  readonly root: string;
  /** The layer with what the command wrote, and a folder on its file system for what goes. */
  readonly upper: string;
  readonly removed: string;
  /** The call that these changes are of. */
  readonly call?: string | undefined;
  /** In milliseconds since the epoch: what changed later was changed by others. */
  readonly startedAt: number;
  readonly changes: readonly HeldChange[];
}

export interface Conflict {
  readonly path: string;
  /** The file with the command's version; undefined for a removal. */
  readonly ours: string | undefined;
}

export interface Applied {
  /** In which something changed: absolute. */
  readonly folders: readonly string[];
  readonly done: readonly HeldChange[];
  readonly conflicts: readonly Conflict[];
}

const PLAN_FILE = "apply.json";
const BREATHE_EVERY = 200;
/** More than this many files are not each waited for: the journal of the file system orders the renames. */
const MOST_SYNCED = 64;

interface StoredPlan {
  /** The folder of the layers: the folder may have another name by now. */
  readonly folder: string;
  readonly plans: readonly ApplyPlan[];
}

/** Makes what is to be moved into the real folder ready: without attributes of the overlay, and on the disk. Throws where there is no room for it. */
export async function flushWritten(plans: readonly ApplyPlan[]): Promise<void> {
  for (const plan of plans) refuseWithoutRoom(plan);
  for (const { upper, changes } of plans) {
    for (const { path, after, marked } of changes) {
      if (marked && after !== undefined)
        await withoutMarks(join(upper, path), { after, fresh: join(upper, "..", "fresh") });
    }
  }
  const files = plans.flatMap(({ upper, changes }) =>
    changes.filter(({ after }) => after?.kind === "file").map(({ path }) => join(upper, path)),
  );
  await Promise.all(files.slice(0, MOST_SYNCED).map(flush));
}

/** On another file system each file is copied beside the one that it replaces. Folders that change as a whole are not counted. */
function refuseWithoutRoom({ root, upper, changes }: ApplyPlan): void {
  const at = statSync(fsPath(root), { throwIfNoEntry: false });
  if (at === undefined || at.dev === statSync(fsPath(upper)).dev) return;
  const { bavail, bsize, files, ffree } = statfsSync(fsPath(root));
  const blocks = (entry: HeldEntry | undefined) => (entry?.kind === "file" ? Math.ceil(entry.size / bsize) : 0);
  const most = Math.max(0, ...changes.map(({ after }) => blocks(after)));
  const more = changes.reduce((sum, { before, after }) => sum + Math.max(0, blocks(after) - blocks(before)), most);
  const names = changes.filter(({ before, after }) => before === undefined && after !== undefined).length + 1;
  if (more > bavail) throw new Error(`the disk of ${root} is full: ${(more - bavail) * bsize} bytes are missing`);
  // Some file systems make room for names when they need it.
  if (files > 0 && names > ffree)
    throw new Error(`the disk of ${root} is full: it has no room for ${names} more names`);
}

/** Node cannot remove an attribute, so another entry takes the place of this one. What does not let itself be copied stays. */
async function withoutMarks(
  written: string,
  { after, fresh }: { readonly after: HeldEntry; readonly fresh: string },
): Promise<void> {
  try {
    if (after.kind === "file") await copyFile(fsPath(written), fresh, constants.COPYFILE_FICLONE);
    else {
      mkdirSync(fresh, { mode: 0o700 });
      for (const name of namesIn(written)) renameSync(fsPath(join(written, name)), fsPath(join(fresh, name)));
      rmdirSync(fsPath(written));
    }
    const { mode } = after.kind === "file" ? after : { mode: after.mode | OPEN_FOLDER };
    chmodSync(fresh, mode);
    utimesSync(fresh, after.mtimeMs / 1000, after.mtimeMs / 1000);
    renameSync(fresh, fsPath(written));
  } catch (error) {
    if (after.kind !== "file") throw error;
    rmSync(fresh, { force: true });
  }
}

/** Everything that is to be applied, on the disk before the first step. `folder` is Oxbow's own. */
export async function writePlan(folder: string, plans: readonly ApplyPlan[]): Promise<void> {
  const stored: StoredPlan = { folder, plans };
  const file = join(folder, PLAN_FILE);
  try {
    writeFileSync(file, JSON.stringify(stored), { mode: 0o600 });
    await Promise.all([file, folder].map(flush));
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  }
}

/** Tells whether steps of a plan are left. */
export function hasPlan(folder: string): boolean {
  return look(join(folder, PLAN_FILE)) !== undefined;
}

/** The plan that a crash left; undefined if the command's changes were not applied at all. */
export function readPlan(folder: string): readonly ApplyPlan[] | undefined {
  if (!hasPlan(folder)) return undefined;
  const stored = JSON.parse(readFileSync(join(folder, PLAN_FILE), "utf8")) as StoredPlan;
  const here = (path: string) => join(folder, relative(stored.folder, path));
  return stored.plans.map((plan) => ({ ...plan, upper: here(plan.upper), removed: here(plan.removed) }));
}

/** All steps are taken. `changed` are the real folders in which something changed. */
export async function dropPlan(folder: string, changed: readonly string[]): Promise<void> {
  await flushFolders(changed);
  rmSync(join(folder, PLAN_FILE), { force: true });
}

/** Waiting for thousands of folders one by one takes minutes: then each of their file systems is written out at once. */
async function flushFolders(folders: readonly string[]): Promise<void> {
  if (folders.length > MOST_SYNCED && (await flushFileSystems(folders))) return;
  await Promise.all(folders.map(flush));
}

/** False if the system has no program for it. */
function flushFileSystems(folders: readonly string[]): Promise<boolean> {
  const places = new Map<number, string>();
  for (const folder of folders) {
    const found = statSync(fsPath(folder), { throwIfNoEntry: false });
    if (found !== undefined && folder.isWellFormed()) places.set(found.dev, folder);
  }
  return new Promise((resolve) => {
    execFile("sync", ["-f", "--", ...places.values()], { cwd: "/", env: { PATH: SYSTEM_PATH } }, (error) =>
      resolve(error === null),
    );
  });
}

function flushNow(path: string): void {
  const fd = openSync(fsPath(path), constants.O_RDONLY);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Skips what is gone or does not let itself be opened. */
async function flush(path: string): Promise<void> {
  let fd: number;
  try {
    fd = openSync(fsPath(path), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch {
    return;
  }
  try {
    await new Promise<void>((resolve, reject) => fsync(fd, (error) => (error === null ? resolve() : reject(error))));
  } finally {
    closeSync(fd);
  }
}

export function applyChanges(plan: ApplyPlan): Promise<Applied> {
  return new Applying(plan).all();
}

/** Takes the steps of a plan that a crash left. */
export function finishPlan(plan: ApplyPlan): Promise<Applied> {
  return new Applying(plan).rest();
}

/** Tells whether nothing but this plan has touched the entry since the command started. */
function isUntouched({ before, whole, seenAt }: HeldChange, now: HeldEntry | undefined, startedAt: number): boolean {
  if (before === undefined || now === undefined) return before === now;
  const hasTimes = now.kind === "file" || whole === true;
  const isOld = now.ctimeMs === before.ctimeMs && now.ctimeMs <= (seenAt ?? startedAt);
  return isSameEntry(now, before) && (!hasTimes || isOld);
}

type Changes = Pick<ApplyPlan, "root" | "startedAt" | "changes">;

/** Finds what another program changed since the command started: the changes by their path, with what is there now. */
function touchedBy({ changes, root, startedAt }: Changes): ReadonlyMap<HeldChange, HeldEntry | undefined> {
  const replaced = new Set<string>();
  const touched = new Map<HeldChange, HeldEntry | undefined>();
  for (const change of changes) {
    // Nothing of the real folder is below it.
    if (isBelow(change.path, replaced)) continue;
    if (change.after !== undefined && isWholeGone(change)) replaced.add(change.path);
    const now = entryAt(join(root, change.path));
    const counts = change.before?.kind !== "folder" || isWholeGone(change);
    if (counts && !isUntouched(change, now, startedAt)) touched.set(change, now);
  }
  return touched;
}

/**
 * The changes of files that a person may let pass although another program changed these files meanwhile, each as it then is. None if
 * a repository is among them: a part of what git wrote makes no sense.
 */
export function disputed(changes: Changes): ReadonlyMap<HeldChange, HeldChange> {
  const touched = [...touchedBy(changes)];
  if (touched.some(([{ path }]) => gitFolderOf(path) !== undefined)) return new Map();
  const seenAt = Date.now();
  return new Map(
    touched.flatMap(([change, now]) => {
      const isFile = now !== undefined && now.kind !== "folder" && change.after?.kind !== "folder";
      return isFile ? [[change, { ...change, before: now, seenAt }]] : [];
    }),
  );
}

class Applying {
  readonly #plan: ApplyPlan;
  readonly #done: HeldChange[] = [];
  readonly #conflicts: Conflict[] = [];
  readonly #folders = new Set<string>();
  /** Holds the places below which nothing needs a step of its own. */
  readonly #whole = new Set<string>();
  readonly #refused = new Set<string>();
  /** Holds what others changed since the command started. */
  readonly #touched = new Set<string>();
  #held: { readonly way: string; readonly folder: HeldFolder } | undefined;
  #isFinishing = false;
  #listed: ReadonlyMap<string, number | undefined> | undefined;
  #steps = 0;
  #synced = 0;

  constructor(plan: ApplyPlan) {
    this.#plan = plan;
  }

  async all(): Promise<Applied> {
    const { changes } = this.#plan;
    // Before the first step: removing one of several names of a file changes the times of the others.
    for (const { path } of touchedBy(this.#plan).keys()) this.#touched.add(path);
    const locks = new GitLocks(this.#plan);
    if (locks.taken.length > 0 || [...this.#touched].some((path) => gitFolderOf(path) !== undefined)) {
      locks.release();
      return { folders: [], done: [], conflicts: changes.map(({ path }) => ({ path, ours: undefined })) };
    }
    return this.#takeLocked(locks);
  }

  rest(): Promise<Applied> {
    this.#isFinishing = true;
    const locks = new GitLocks(this.#plan);
    const [other] = locks.taken;
    if (other !== undefined) {
      locks.release();
      throw new Error(`git works there (${other})`);
    }
    return this.#takeLocked(locks);
  }

  async #takeLocked(locks: GitLocks): Promise<Applied> {
    try {
      return await this.#take();
    } finally {
      this.#letGo();
      locks.release();
    }
  }

  async #take(): Promise<Applied> {
    const { changes } = this.#plan;
    const removals = changes.filter(
      (change) => change.before && (!change.after || isExchange(change.before, change.after) || isWholeGone(change)),
    );
    const creations = changes.filter(({ after }) => after !== undefined);
    const shut = changes.filter((change) => isShut(change.before) && !(isWholeGone(change) && change.after));
    for (const change of shut.toSorted(deepestFirst).toReversed()) await this.#step(change, this.#open);
    for (const change of removals.toSorted(deepestFirst)) await this.#step(change, this.#remove);
    this.#whole.clear();
    for (const change of creations) await this.#step(change, this.#put);
    const folders = creations.filter(({ after }) => after?.kind === "folder");
    for (const change of folders.toReversed()) await this.#step(change, this.#setFolderMode);
    // Before that, no new folder gets the number of an old one.
    for (const change of removals.filter(isWholeGone)) await this.#step(change, this.#removeAside);
    this.#letGo();
    const changed = [...this.#folders].map((folder) => join(this.#plan.root, folder));
    return { folders: changed, done: this.#done, conflicts: this.#conflicts };
  }

  async #step(
    change: HeldChange,
    action: (change: HeldChange, held: string, folder: HeldFolder) => void,
  ): Promise<void> {
    if (isBelow(change.path, this.#whole) || this.#refused.has(change.path)) return;
    this.#steps += 1;
    if (this.#steps % BREATHE_EVERY === 0) {
      this.#letGo();
      await setImmediate();
    }
    let folder: HeldFolder;
    try {
      folder = this.#hold(change.path);
    } catch (error) {
      if (!(error instanceof WayBlockedError)) throw error;
      // Its folder is gone, or is one no more: another program has changed it.
      if (change.after !== undefined) this.#conflict(change, undefined);
      return;
    }
    action.call(this, change, folder.at(nameOf(change.path)), folder);
    this.#folders.add(folderOf(change.path));
  }

  /** Opening each folder on the way again for each of its files would take most of the time. */
  #hold(path: string): HeldFolder {
    const way = folderOf(path);
    if (this.#held?.way === way) return this.#held.folder;
    this.#letGo();
    const folder = HeldFolder.of(this.#plan.root, path);
    this.#held = { way, folder };
    return folder;
  }

  #letGo(): void {
    this.#held?.folder.close();
    this.#held = undefined;
  }

  /** Lets its owner change what is in a folder that is to go, or to get another mode. */
  #open({ before }: HeldChange, held: string): void {
    if (entryAt(held)?.kind === "folder") chmodSync(fsPath(held), (before?.mode ?? 0) | OPEN_FOLDER);
  }

  #remove(change: HeldChange, held: string): void {
    const { path, before, after } = change;
    const now = entryAt(held);
    if (now === undefined || before === undefined) {
      if (after === undefined && this.#isFinishing && isWholeGone(change)) this.#removeAside(change, held);
      if (after === undefined) this.#done.push(change);
      return;
    }
    if (now.kind !== before.kind && after !== undefined) return;
    if (isWholeGone(change) && after !== undefined) {
      this.#removeReplaced(change, { held, now, before });
      return;
    }
    if ((now.kind !== "folder" || change.whole) && !this.#isAsFound(path, { now, before })) {
      this.#conflict(change, undefined);
      return;
    }
    if (now.kind !== "folder") unlinkSync(fsPath(held));
    else if (change.whole && after === undefined) {
      this.#moveAway(held);
      this.#removeAside(change, held);
      this.#whole.add(path);
    } else {
      try {
        rmdirSync(fsPath(held));
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
        // Others put something there, or something hidden is in it.
        if (isShut(before)) chmodSync(fsPath(held), before.mode);
        if (after !== undefined) this.#conflict(change, undefined);
        return;
      }
    }
    if (after === undefined) this.#done.push(change);
  }

  #removeReplaced(
    { path }: HeldChange,
    { held, now, before }: { readonly held: string; readonly now: HeldEntry; readonly before: HeldEntry },
  ): void {
    const isOld = now.ino === before.ino && now.ctimeMs === before.ctimeMs;
    if (isOld && !this.#touched.has(path)) this.#moveAway(held);
    // Else the folder is the new one: it was replaced before a crash.
    else if (!this.#isFinishing || now.ino === before.ino) this.#touched.add(path);
  }

  #put(change: HeldChange, held: string): void {
    const { path, before, after } = change;
    if (after === undefined) return;
    const source = join(this.#plan.upper, path);
    const now = entryAt(held);
    if (after.kind === "folder") {
      this.#putFolder(change, { held, now, source });
      return;
    }
    if (look(source) === undefined) {
      // Moved before a crash.
      this.#done.push(change);
      return;
    }
    if (now !== undefined && this.#isFinishing && isCopy(now, { held, after, source })) {
      // Copied before a crash.
      unlinkSync(fsPath(source));
      this.#done.push(change);
      return;
    }
    const expected = before !== undefined && isExchange(before, after) ? undefined : before;
    const isFree = now === undefined || (expected !== undefined && this.#isAsFound(path, { now, before: expected }));
    if (!isFree) {
      this.#putBeside(change, { held, source });
      return;
    }
    this.#move(source, held, after);
    this.#done.push(change);
  }

  #putFolder(
    change: HeldChange,
    { held, now, source }: { readonly held: string; readonly now: HeldEntry | undefined; readonly source: string },
  ): void {
    if (now !== undefined && now.kind !== "folder") {
      this.#conflict(change, undefined);
      return;
    }
    if (now !== undefined && this.#touched.has(change.path)) {
      // The files of both would be mixed.
      if (this.#isOneStep(change.path)) this.#putBeside(change, { held, source });
      else this.#conflict(change, undefined);
      this.#whole.add(change.path);
      return;
    }
    if (now === undefined && change.whole && this.#isOneStep(change.path) && moved(source, held)) {
      this.#whole.add(change.path);
      this.#done.push(change);
      return;
    }
    // Work goes on in it: its own mode comes last.
    if (now === undefined) mkdirSync(fsPath(held), { mode: 0o700 });
    this.#done.push(change);
  }

  #setFolderMode({ after, path }: HeldChange, held: string): void {
    if (after?.kind !== "folder" || this.#whole.has(path)) return;
    if (entryAt(held)?.kind === "folder") chmodSync(fsPath(held), after.mode);
  }

  /** Keeps what another program wrote meanwhile. */
  #putBeside(change: HeldChange, { held, source }: { readonly held: string; readonly source: string }): void {
    if (change.after === undefined) return;
    for (let count = 0; ; count++) {
      const end = count === 0 ? ".oxbow" : `.oxbow-${count}`;
      try {
        if (look(`${held}${end}`) !== undefined) continue;
        this.#move(source, `${held}${end}`, change.after);
        this.#conflict(change, `${change.path}${end}`);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        // A folder is not copied to another file system.
        if (code !== "ENAMETOOLONG" && code !== "EISDIR") throw error;
        this.#conflict(change, undefined);
      }
      return;
    }
  }

  #move(source: string, held: string, after: HeldEntry): void {
    if (moved(source, held)) return;
    const beside = this.#aside(held, "new");
    // A crash left it.
    if (this.#isFinishing) rmSync(fsPath(beside), { force: true });
    try {
      if (after.kind === "link") symlinkSync(fsPath(linkTarget(source)), fsPath(beside));
      else {
        copyFileSync(fsPath(source), fsPath(beside));
        if (this.#synced++ < MOST_SYNCED) flushNow(beside);
        chmodSync(fsPath(beside), after.mode);
        utimesSync(fsPath(beside), after.mtimeMs / 1000, after.mtimeMs / 1000);
      }
      renameSync(fsPath(beside), fsPath(held));
    } catch (error) {
      rmSync(fsPath(beside), { force: true });
      throw error;
    }
    unlinkSync(fsPath(source));
  }

  /** Removing many files takes long, so they are moved out of the way where that is one step. */
  #moveAway(held: string): void {
    const { removed } = this.#plan;
    mkdirSync(removed, { recursive: true, mode: 0o700 });
    if (moved(held, join(removed, randomBytes(8).toString("hex")))) return;
    renameSync(fsPath(held), fsPath(this.#aside(held, "old")));
  }

  /** A name in the same folder for what is not yet there or not yet gone; the same after a crash. */
  #aside(held: string, what: "old" | "new"): string {
    const hash = createHash("sha256")
      .update(`${this.#plan.startedAt} ${what} ${nameOf(held)}`)
      .digest("hex");
    return join(dirname(held), `.oxbow-${hash.slice(0, 12)}.tmp`);
  }

  #removeAside(_: HeldChange, held: string): void {
    rmSync(fsPath(this.#aside(held, "old")), { recursive: true, force: true });
  }

  /** Nothing below was held back, and no folder has a mode that its owner could not work with. */
  #isOneStep(path: string): boolean {
    this.#listed ??= new Map(this.#plan.changes.map((change) => [change.path, change.after?.mode]));
    const listed = this.#listed;
    const folders = [""];
    for (const folder of folders) {
      for (const name of namesBelow(join(this.#plan.upper, path, folder))) {
        const inner = folder === "" ? name : `${folder}/${name}`;
        const mode = listed.get(`${path}/${inner}`);
        if (mode === undefined) return false;
        const found = look(join(this.#plan.upper, path, inner));
        if (!found?.isDirectory()) continue;
        if ((found.mode & 0o7777) !== mode) return false;
        folders.push(inner);
      }
    }
    const top = look(join(this.#plan.upper, path));
    return top !== undefined && (top.mode & 0o7777) === listed.get(path);
  }

  #isAsFound(path: string, { now, before }: { readonly now: HeldEntry; readonly before: HeldEntry }): boolean {
    return !this.#touched.has(path) && isSameEntry(now, before);
  }

  #conflict({ path }: HeldChange, ours: string | undefined): void {
    this.#refused.add(path);
    this.#conflicts.push({ path, ours });
  }
}

function isBelow(path: string, folders: ReadonlySet<string>): boolean {
  if (folders.size === 0) return false;
  for (let folder = folderOf(path); folder !== ""; folder = folderOf(folder)) if (folders.has(folder)) return true;
  return false;
}

const REFERENCE = /^(HEAD|packed-refs|refs\/.+)$/;

/** The locks that git would take for these changes: of the index of each repository, and of the references that change. */
class GitLocks {
  /** Those that a git holds, from the root. */
  readonly taken: string[] = [];
  readonly #own: string[] = [];
  readonly #root: string;

  constructor({ root, changes, startedAt }: ApplyPlan) {
    this.#root = root;
    const locks = new Set<string>();
    for (const { path } of changes) {
      const folder = gitFolderOf(path);
      if (folder === undefined) continue;
      locks.add(`${folder}/index.lock`);
      const inner = path.slice(folder.length + 1);
      if (REFERENCE.test(inner)) locks.add(`${path}.lock`);
    }
    // It names the plan, so that the lock which a crash leaves is known again.
    const text = `oxbow ${startedAt}\n`;
    for (const lock of locks) (this.#take(lock, text) ? this.#own : this.taken).push(lock);
  }

  release(): void {
    for (const lock of this.#own) this.#at(lock, (held) => rmSync(fsPath(held), { force: true }));
  }

  #take(lock: string, text: string): boolean {
    return this.#at(lock, (held) => {
      try {
        writeFileSync(fsPath(held), text, { flag: "wx", mode: 0o600 });
        return true;
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code !== "EEXIST") throw error;
        return fileBytes(held, text.length)?.toString() === text;
      }
    });
  }

  /** True where the folder of the lock does not exist: no git can hold it. */
  #at(lock: string, action: (held: string) => unknown): boolean {
    let folder: HeldFolder;
    try {
      folder = HeldFolder.of(this.#root, lock);
    } catch (error) {
      if (error instanceof WayBlockedError) return true;
      throw error;
    }
    try {
      return action(folder.at(nameOf(lock))) !== false;
    } finally {
      folder.close();
    }
  }
}

function gitFolderOf(path: string): string | undefined {
  const names = path.split("/");
  const at = names.findIndex((name) => plainName(name) === ".git");
  return at === -1 ? undefined : names.slice(0, at + 1).join("/");
}

function isCopy(
  now: HeldEntry,
  { held, after, source }: { readonly held: string; readonly after: HeldEntry; readonly source: string },
): boolean {
  if (now.kind !== after.kind || now.size !== after.size) return false;
  if (now.kind === "link") return now.target === after.target;
  if (now.mode !== after.mode || Math.abs(now.mtimeMs - after.mtimeMs) >= 1) return false;
  const most = after.size;
  const [there, ours] = [fileBytes(held, most), fileBytes(source, most)];
  return there !== undefined && ours?.equals(there) === true;
}

function isSameEntry(now: HeldEntry, before: HeldEntry): boolean {
  if (now.kind !== before.kind) return false;
  if (now.kind === "link") return now.target === before.target;
  return (
    now.kind === "folder" || (now.ino === before.ino && now.mtimeMs === before.mtimeMs && now.size === before.size)
  );
}

/** A folder in which its owner can change nothing. */
function isShut(entry: HeldEntry | undefined): entry is HeldEntry {
  return entry?.kind === "folder" && (entry.mode & OPEN_FOLDER) !== OPEN_FOLDER;
}

/** A folder takes the place of something else, or the other way round. */
function isExchange(before: HeldEntry, after: HeldEntry): boolean {
  return (before.kind === "folder") !== (after.kind === "folder");
}

function deepestFirst(one: HeldChange, other: HeldChange): number {
  return other.path.split("/").length - one.path.split("/").length;
}

/** False if they are on two file systems. */
function moved(from: string, to: string): boolean {
  try {
    renameSync(fsPath(from), fsPath(to));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EXDEV") return false;
    throw error;
  }
}

function entryAt(full: string): HeldEntry | undefined {
  const found = look(full);
  return found && entryOf(found, full);
}

function namesBelow(folder: string): readonly string[] {
  return look(folder)?.isDirectory() ? namesIn(folder) : [];
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Empty for an entry of the root. */
function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}
