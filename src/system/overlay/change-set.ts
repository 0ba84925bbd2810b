/**
 * Reads what a command changed in its view of a workspace: an overlay whose lower layer is the real folder and whose upper layer holds all
 * that the command wrote.
 *
 * 1. The processes of the command have ended, so the upper layer is at rest. The real folder may still be changed by others.
 * 2. No link is followed, in either layer. Names keep every byte (`path-bytes.ts`).
 * 3. Hidden names do not exist in the view. They never count as deleted; a folder that holds one stays. A command that makes such a name
 *    itself changes what is hidden there.
 * 4. Sockets, pipes, devices and set-user-ID files are no changes but problems: nothing of them reaches the real folder.
 * 5. What ignore files leave out is not recorded for undo: a folder of it that the command made, replaced or removed is one change, `whole`.
 *    Repositories in a removed one are named, because they are no one's build output. A replaced one that held a repository, or something
 *    hidden, is listed entry by entry.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  type Stats,
} from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { type EntryKind, kindOf } from "../../base/entry-kind.js";
import { plainName } from "../../base/plain-name.js";
import { fsPath, linkTarget, namesIn } from "../path-bytes.js";

/** An entry as one of the layers has it. */
export interface HeldEntry {
  readonly kind: EntryKind;
  readonly mode: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly ino: number;
  /** The target of a link. */
  readonly target?: string;
}

export interface HeldChange {
  /** From the root, with forward slashes. */
  readonly path: string;
  /** In the real folder when the command had ended. */
  readonly before: HeldEntry | undefined;
  readonly after: HeldEntry | undefined;
  /** Undo keeps what goes. */
  readonly recorded: boolean;
  /** It stands for everything below it, which is listed only where the command made it. Instead of another folder, it replaces all of that one. */
  readonly whole?: true;
  /** A removed file that this one is, under its old name. */
  readonly from?: string;
  /** The overlay may have left attributes of its own on what was written. */
  readonly marked?: true;
  /** A person saw the entry as `before` at this time, in milliseconds since the epoch, and lets the command's version take its place. */
  readonly seenAt?: number;
}

export interface Problem {
  readonly path: string;
  readonly why: string;
}

export interface ChangeSet {
  /** A folder comes before what is in it. */
  readonly changes: readonly HeldChange[];
  readonly problems: readonly Problem[];
  /** Folders that the command removed and that stay, because something hidden is in them. */
  readonly staying: readonly string[];
}

/** Knows what the ignore files of a folder and those above it leave out. */
export interface IgnoreRules {
  ignores(name: string, kind: "file" | "folder"): boolean;
}

export interface IgnoreSource {
  above(root: string): Promise<IgnoreRules | undefined>;
  rules(folder: {
    readonly path: string;
    readonly names: ReadonlySet<string>;
    readonly above: IgnoreRules | undefined;
  }): Promise<IgnoreRules>;
}

export interface ChangeSetOptions {
  /** The real folder. */
  readonly lower: string;
  /** Holds what the command wrote. */
  readonly upper: string;
  /** Both together, as the command saw them. */
  readonly merged: string;
  /** Tells whether the view has no such name although the real folder does, or one of its folders. From the root. */
  isHidden(path: string): boolean;
  /** Tells whether it hides something in this folder. */
  hidesIn?(folder: string): boolean;
  readonly ignore?: IgnoreSource | undefined;
  readonly limits?: Partial<ChangeLimits> | undefined;
}

export interface ChangeLimits {
  /** Recorded changes, and their bytes. */
  readonly changes: number;
  readonly bytes: number;
  /** Of a path. */
  readonly depth: number;
}

const CHANGE_LIMITS: ChangeLimits = { changes: 50_000, bytes: 4 * 1024 ** 3, depth: 200 };

/** The records of version control, and what a package manager can make again: undo never covers them. */
const UNRECORDED_NAMES: ReadonlySet<string> = new Set(
  ".git .hg .svn .jj .sl .bzr node_modules .venv __pycache__".split(" "),
);

/** The command changed too much to be checked; the message says what to do. */
class TooManyChangesError extends Error {
  override readonly name = "TooManyChangesError";
}

const MARKED = { marked: true } as const;
const SPECIAL_BITS = 0o6000;
/** Names what their owner needs to look into a folder and to move it. The layer is Oxbow's own; the mode that the command chose is recorded. */
export const OPEN_FOLDER = 0o700;
/** A copy of a file that was only opened for writing keeps its times, so it is compared. */
const COMPARED_BYTES = 4 * 1024 * 1024;
const BREATHE_EVERY = 500;

interface Folder {
  readonly path: string;
  /** Says whether the real folder has it, as a folder: links lead elsewhere. */
  readonly isBelow: boolean;
  readonly rules: IgnoreRules | undefined;
  readonly recorded: boolean;
  readonly depth: number;
  /** In a folder that the command made and that is one change. */
  readonly inWhole: boolean;
}

export async function readChangeSet(options: ChangeSetOptions): Promise<ChangeSet> {
  return new Reading(options).all();
}

class Reading {
  readonly #options: ChangeSetOptions;
  readonly #limits: ChangeLimits;
  readonly #changes: HeldChange[] = [];
  readonly #problems: Problem[] = [];
  readonly #staying: string[] = [];
  /** Numbers of files in the upper layer. */
  readonly #marked = new Set<number>();
  #recorded = 0;
  #bytes = 0;
  #looked = 0;

  constructor(options: ChangeSetOptions) {
    this.#options = options;
    this.#limits = { ...CHANGE_LIMITS, ...options.limits };
  }

  async all(): Promise<ChangeSet> {
    const { lower, ignore } = this.#options;
    const rules = await ignore?.above(lower);
    try {
      await this.#folder({ path: "", isBelow: true, rules, recorded: true, depth: 0, inWhole: false });
    } catch (error) {
      throw (error as NodeJS.ErrnoException).code === "ENAMETOOLONG" ? tooDeep() : error;
    }
    // A file may have several names, of which the overlay says it of one only.
    const changes = this.#changes.map((change) =>
      change.after?.kind === "file" && this.#marked.has(change.after.ino) ? { ...change, ...MARKED } : change,
    );
    return { changes: withRenames(changes), problems: this.#problems, staying: this.#staying };
  }

  /** A folder of the upper layer. */
  async #folder({ path, isBelow, rules: above, recorded, depth, inWhole }: Folder): Promise<void> {
    const { lower, upper, merged, ignore } = this.#options;
    if (depth > this.#limits.depth) throw tooDeep();
    const below = isBelow ? namesIn(at(lower, path)) : [];
    const rules =
      isBelow && recorded ? await ignore?.rules({ path: at(lower, path), names: new Set(below), above }) : above;
    const written = new Set(namesIn(at(upper, path)));
    const shown = below.filter((name) => !written.has(name) && !this.#options.isHidden(within(path, name)));
    // A folder that was removed and made again hides all of the lower one.
    const isOpaque = shown.length > 0 && shown.every((name) => look(at(merged, within(path, name))) === undefined);
    if (isOpaque) {
      for (const name of shown) await this.#removed(within(path, name), { rules, recorded });
    }
    for (const name of written) {
      await this.#breathe();
      await this.#entry(within(path, name), { name, isBelow, rules, recorded, depth, inWhole });
    }
  }

  async #entry(
    path: string,
    { name, isBelow, rules, recorded, depth, inWhole }: Omit<Folder, "path"> & { readonly name: string },
  ): Promise<void> {
    const { upper, isHidden } = this.#options;
    const found = look(at(upper, path));
    if (found === undefined) return;
    const before = isBelow ? this.#lower(path) : undefined;
    if (isWhiteout(found)) {
      if (before !== undefined && !isHidden(path)) await this.#removed(path, { rules, recorded });
      return;
    }
    const after = entryOf(found, at(upper, path));
    if (after.kind === "other") {
      this.#problems.push({ path, why: "it is a socket, pipe or device" });
      return;
    }
    if (after.kind === "file" && (after.mode & SPECIAL_BITS) !== 0) {
      this.#problems.push({ path, why: "it would run with the rights of its owner (set-user-ID)" });
      return;
    }
    const isRecorded = recorded && !this.#isLeftOut(name, { rules, kind: after.kind });
    if (after.kind !== "folder") {
      if (before?.kind === "folder") await this.#contentRemoved(path, { rules, recorded });
      // Whether it is the same as a hidden file is not told.
      if (before === undefined || isHidden(path) || !this.#isSame(path, before, after))
        this.#add({ path, before, after, recorded: isRecorded });
      this.#noteMarks(path, found);
      return;
    }
    const isReplaced = before?.kind === "folder" && !isRecorded && !inWhole && this.#isReplaced(path);
    const isNew = before?.kind !== "folder" || isReplaced;
    const isWhole = isNew && !isRecorded && !inWhole;
    if (isNew || before.mode !== after.mode) {
      this.#add({ path, before, after, recorded: isRecorded, ...(isWhole && { whole: true as const, ...MARKED }) });
    }
    if ((after.mode & OPEN_FOLDER) !== OPEN_FOLDER) chmodSync(fsPath(at(upper, path)), after.mode | OPEN_FOLDER);
    await this.#folder({
      ...{ path, isBelow: !isNew, rules, recorded: isRecorded },
      ...{ depth: depth + 1, inWhole: inWhole || isWhole },
    });
  }

  /** Tells whether nothing of the real folder shows through, and nothing in it needs care of its own. */
  #isReplaced(path: string): boolean {
    const { lower, upper, merged, hidesIn } = this.#options;
    // An overlay counts one link for a folder that it joins from several layers.
    if ((look(at(merged, path))?.nlink ?? 1) < 2 || hidesIn?.(path)) return false;
    const written = new Set(namesIn(at(upper, path)));
    const isShown = (name: string) => !written.has(name) && look(at(merged, within(path, name))) !== undefined;
    const isGit = path.split("/").some((name) => plainName(name) === ".git");
    return !isGit && !namesIn(at(lower, path)).some(isShown) && !holdsRepository(at(lower, path));
  }

  /** An entry of the real folder is gone. Returns whether all of it is. */
  async #removed(path: string, { rules, recorded }: Pick<Folder, "rules" | "recorded">): Promise<boolean> {
    const before = this.#lower(path);
    if (before === undefined) return true;
    const name = path.slice(path.lastIndexOf("/") + 1);
    const isRecorded = recorded && !this.#isLeftOut(name, { rules, kind: before.kind });
    if (before.kind !== "folder") {
      this.#add({ path, before, after: undefined, recorded: isRecorded });
      return true;
    }
    const first = this.#changes.length;
    const isGone = await this.#contentRemoved(path, { rules, recorded: isRecorded });
    if (!isGone) {
      this.#staying.push(path);
      return false;
    }
    // What is not recorded goes in one step.
    if (!isRecorded) this.#changes.push(...this.#changes.splice(first).filter(isRepository));
    this.#add({ path, before, after: undefined, recorded: isRecorded, ...(!isRecorded && { whole: true as const }) });
    return true;
  }

  async #contentRemoved(
    path: string,
    { rules: above, recorded }: Pick<Folder, "rules" | "recorded">,
  ): Promise<boolean> {
    const { lower, ignore } = this.#options;
    const names = namesIn(at(lower, path));
    const rules = recorded ? await ignore?.rules({ path: at(lower, path), names: new Set(names), above }) : above;
    let isGone = true;
    for (const name of names) {
      await this.#breathe();
      const inner = within(path, name);
      if (this.#options.isHidden(inner)) isGone = false;
      else if (!(await this.#removed(inner, { rules, recorded }))) isGone = false;
    }
    return isGone;
  }

  #lower(path: string): HeldEntry | undefined {
    const full = at(this.#options.lower, path);
    const found = look(full);
    return found && entryOf(found, full);
  }

  #isLeftOut(
    name: string,
    { rules, kind }: { readonly rules: IgnoreRules | undefined; readonly kind: EntryKind },
  ): boolean {
    return UNRECORDED_NAMES.has(name) || rules?.ignores(name, kind === "folder" ? "folder" : "file") === true;
  }

  /** An overlay gives a file that it copied from below the number of the one below, and notes that in an attribute. */
  #noteMarks(path: string, { ino }: Stats): void {
    const seen = look(at(this.#options.merged, path));
    if (seen?.isFile() && seen.ino !== ino) this.#marked.add(ino);
  }

  #isSame(path: string, before: HeldEntry, after: HeldEntry): boolean {
    if (before.kind !== after.kind || before.size !== after.size || before.target !== after.target) return false;
    if (after.kind === "link") return true;
    if (before.mode !== after.mode || before.mtimeMs !== after.mtimeMs || after.size > COMPARED_BYTES) return false;
    const { lower, upper } = this.#options;
    const written = fileBytes(at(upper, path), COMPARED_BYTES);
    return written !== undefined && fileBytes(at(lower, path), COMPARED_BYTES)?.equals(written) === true;
  }

  #add(change: HeldChange): void {
    this.#changes.push(change);
    if (!change.recorded) return;
    this.#recorded += 1;
    this.#bytes += change.after?.kind === "file" ? change.after.size : 0;
    const { changes, bytes } = this.#limits;
    if (this.#recorded > changes || this.#bytes > bytes) {
      throw new TooManyChangesError(
        `It changed more than ${changes.toLocaleString("en-US")} files or ${Math.round(bytes / 1024 ** 2).toLocaleString("en-US")} MiB outside of ignored folders. ` +
          "Nothing was applied. Change less at a time, write to a folder that .gitignore names, or ask the user to run it.",
      );
    }
  }

  async #breathe(): Promise<void> {
    this.#looked += 1;
    if (this.#looked % BREATHE_EVERY === 0) await setImmediate();
  }
}

/** A file that went, and one that came with the same size, time and mode: a program that renames or moves keeps these. */
function withRenames(changes: readonly HeldChange[]): readonly HeldChange[] {
  const gone = new Map<string, string | undefined>();
  for (const { path, before, after } of changes) {
    if (after !== undefined || before?.kind !== "file") continue;
    const key = likeness(before);
    // Two of them may be either.
    gone.set(key, gone.has(key) ? undefined : path);
  }
  if (gone.size === 0) return changes;
  return changes.map((change) => {
    const { before, after } = change;
    const from = before === undefined && after?.kind === "file" ? gone.get(likeness(after)) : undefined;
    return from === undefined ? change : { ...change, from };
  });
}

function likeness({ size, mtimeMs, mode }: HeldEntry): string {
  return `${size} ${mtimeMs} ${mode}`;
}

function tooDeep(): TooManyChangesError {
  return new TooManyChangesError(
    "It made folders that are nested too deeply. Nothing was applied. Use shorter paths, or make them in /tmp.",
  );
}

function isRepository({ path, after }: HeldChange): boolean {
  return after === undefined && plainName(path.slice(path.lastIndexOf("/") + 1)) === ".git";
}

function holdsRepository(folder: string): boolean {
  return readdirSync(fsPath(folder), { withFileTypes: true }).some(
    (entry) => plainName(entry.name) === ".git" || (entry.isDirectory() && holdsRepository(join(folder, entry.name))),
  );
}

const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Undefined for what is not a regular file, is larger, or cannot be read. Others may exchange the entry meanwhile. */
export function fileBytes(full: string, most: number): Buffer | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(fsPath(full), READ);
    const found = fstatSync(fd);
    return found.isFile() && found.size <= most ? readFileSync(fd) : undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

export function entryOf(found: Stats, full: string): HeldEntry {
  const { size, mtimeMs, ctimeMs, ino } = found;
  const kind = kindOf(found);
  const base = { kind, mode: found.mode & 0o7777, size: kind === "file" ? size : 0, mtimeMs, ctimeMs, ino };
  return kind === "link" ? { ...base, target: linkTarget(full) } : base;
}

/** Tells whether a folder is gone as a whole, also where the command made another one in its place. */
export function isWholeGone({ before, after, whole }: HeldChange): boolean {
  return whole === true && before?.kind === "folder" && (after === undefined || after.kind === "folder");
}

/** Undefined if nothing is there. */
export function look(full: string): Stats | undefined {
  try {
    return lstatSync(fsPath(full), { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Knows how an overlay writes down that a name of the lower layer is gone. */
function isWhiteout(found: Stats): boolean {
  return found.isCharacterDevice() && found.rdev === 0;
}

function at(root: string, path: string): string {
  return path === "" ? root : join(root, path);
}

function within(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}
