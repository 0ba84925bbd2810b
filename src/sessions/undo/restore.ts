/**
 * Puts files, links and folders into the state they had.
 *
 * 1. Each entry is replaced atomically: it is created beside the old one and renamed.
 * 2. No link is followed, neither on the way nor at the end.
 * 3. Directly before an entry is replaced or removed it is checked again: an unexpected state is left unchanged.
 * 4. Removals come before creations, so that a folder can replace a file and the reverse.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { HeldFolder, inFolder } from "../../system/held-folder.js";
import { fsPath, linkTarget, shownPath } from "../../system/path-bytes.js";
import { type EntryState, kindOf, sameContent, stampOf } from "./entry-state.js";
import { MAX_KEPT_BYTES } from "./limits.js";
import { readRegularFile } from "./regular-file.js";

export interface Step {
  readonly path: string;
  /** As it must be found. */
  readonly from: EntryState | undefined;
  readonly to: EntryState | undefined;
  /** A unique name for the new file. */
  readonly temporary: string;
}

export interface RestoreOptions {
  readonly root: string;
  content(address: string): Buffer | undefined;
  address(content: Buffer): string;
}

export class RestoreError extends Error {
  override readonly name = "RestoreError";
}

const NO_THROW = { throwIfNoEntry: false } as const;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
const SAME_FILE = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
/** What its owner needs to work in a folder. */
const WORKABLE = 0o300;

type Action = (step: Step, at: string, options: RestoreOptions) => void;

/** Throws at the first step that cannot be taken; those before it stay taken. */
export function restore(steps: readonly Step[], options: RestoreOptions): void {
  const deepest = steps.toSorted((left, right) => depthOf(right) - depthOf(left));
  const shallowest = deepest.toReversed();
  const take = (chosen: readonly Step[], action: Action) => {
    for (const step of chosen) {
      try {
        inFolder(options.root, step.path, (at) => action(step, at, options));
      } catch (error) {
        throw new RestoreError(`${shownPath(step.path)}: ${(error as Error).message}`, { cause: error });
      }
    }
  };
  take(
    shallowest.filter((step) => isKeptFolder(step) && isWorkable(step)),
    setFolderMode,
  );
  take(shallowest.filter(isShutAndGoes), (step, at) => chmodSync(fsPath(at), (step.from?.mode ?? 0) | 0o700));
  take(
    deepest.filter((step) => step.to === undefined || isExchange(step)),
    remove,
  );
  take(
    shallowest.filter((step) => step.to !== undefined && !isKeptFolder(step)),
    put,
  );
  // Only now: nothing could be made in them after this.
  take(
    deepest.filter((step) => step.to?.kind === "folder" && !isWorkable(step)),
    setFolderMode,
  );
  for (const folder of new Set(steps.map((step) => dirname(step.path)))) syncFolder(options.root, folder);
}

/** Removes what a restore that was killed may have left beside an entry. */
export function removeTemporary(root: string, { path, temporary }: Pick<Step, "path" | "temporary">): void {
  try {
    inFolder(root, path, (at) => {
      const own = join(dirname(at), temporary);
      const found = lstatSync(fsPath(own), NO_THROW);
      if (found?.isDirectory()) rmdirSync(fsPath(own));
      else if (found !== undefined) unlinkSync(fsPath(own));
    });
  } catch {
    // Its folder was removed with it.
  }
}

/** A folder takes the place of something else, or the other way round: that takes two steps. */
export function isExchange({ from, to }: Pick<Step, "from" | "to">): boolean {
  return from !== undefined && to !== undefined && (from.kind === "folder") !== (to.kind === "folder");
}

function isKeptFolder({ from, to }: Step): boolean {
  return from?.kind === "folder" && to?.kind === "folder";
}

/** A folder to remove whose mode does not let its content be removed. */
function isShutAndGoes({ from, to }: Step): boolean {
  return from?.kind === "folder" && to?.kind !== "folder" && ((from.mode ?? WORKABLE) & WORKABLE) !== WORKABLE;
}

function isWorkable({ to }: Step): boolean {
  return ((to?.mode ?? WORKABLE) & WORKABLE) === WORKABLE;
}

function depthOf({ path }: Step): number {
  return path.split("/").length;
}

function setFolderMode({ to }: Step, at: string): void {
  if (to?.mode !== undefined) chmodSync(fsPath(at), to.mode);
}

function remove(step: Step, at: string, options: RestoreOptions): void {
  expectAt(at, step.from, options);
  if (step.from?.kind !== "folder") {
    unlinkSync(fsPath(at));
    return;
  }
  try {
    rmdirSync(fsPath(at));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Another program created something there: it stays.
    if (step.to !== undefined || (code !== "ENOTEMPTY" && code !== "EEXIST")) throw error;
  }
}

function put(step: Step, at: string, options: RestoreOptions): void {
  const { to, temporary } = step;
  const from = isExchange(step) ? undefined : step.from;
  if (to === undefined) return;
  if (from?.kind === "file" && to.kind === "file" && sameContent(from, to)) {
    expectAt(at, from, options);
    setMode(at, to.mode);
    return;
  }
  const made = join(dirname(at), temporary);
  try {
    if (to.kind === "file") makeFile(made, to, { content: options.content, owner: lstatSync(fsPath(at), NO_THROW) });
    else if (to.kind === "link") symlinkSync(fsPath(to.target ?? ""), fsPath(made));
    else makeFolder(made, isWorkable(step) ? to.mode : 0o700);
    expectAt(at, from, options);
    renameSync(fsPath(made), fsPath(at));
  } catch (error) {
    if (lstatSync(fsPath(made), NO_THROW)?.isDirectory()) rmdirSync(fsPath(made));
    else if (lstatSync(fsPath(made), NO_THROW) !== undefined) unlinkSync(fsPath(made));
    throw error;
  }
}

function makeFile(
  path: string,
  { content: address, mode }: EntryState,
  { content, owner }: { readonly content: RestoreOptions["content"]; readonly owner: Stats | undefined },
): void {
  const bytes = address === undefined ? undefined : content(address);
  if (bytes === undefined) throw new Error("its content is not in the journal, or damaged there");
  const fd = openSync(fsPath(path), NEW_FILE, mode === undefined ? 0o666 : 0o600);
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    if (owner !== undefined) keepOwner(fd, owner);
    if (mode !== undefined) fchmodSync(fd, mode);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Only the superuser may give files away; for everyone else the new file is simply theirs. */
function keepOwner(fd: number, { uid, gid }: Stats): void {
  try {
    const now = fstatSync(fd);
    if (now.uid !== uid || now.gid !== gid) fchownSync(fd, uid, gid);
  } catch {
    // It stays theirs.
  }
}

function makeFolder(path: string, mode: number | undefined): void {
  mkdirSync(fsPath(path));
  if (mode !== undefined) chmodSync(fsPath(path), mode);
}

function setMode(at: string, mode: number | undefined): void {
  if (mode === undefined) return;
  const fd = openSync(fsPath(at), SAME_FILE);
  try {
    fchmodSync(fd, mode);
  } finally {
    closeSync(fd);
  }
}

function expectAt(at: string, expected: EntryState | undefined, { address }: RestoreOptions): void {
  const stat = lstatSync(fsPath(at), NO_THROW);
  const isExpected =
    stat === undefined || expected === undefined
      ? stat === expected
      : kindOf(stat) === expected.kind &&
        (expected.kind !== "link" || linkTarget(at) === expected.target) &&
        (expected.kind !== "file" || expected.stamp === stampOf(stat) || holds(at, expected, address));
  if (!isExpected) throw new Error("another program just changed it");
}

/** A step that touched another name of the same file has moved its times. */
function holds(at: string, { content }: EntryState, address: RestoreOptions["address"]): boolean {
  const read = readRegularFile(at, { limit: MAX_KEPT_BYTES });
  return read !== undefined && address(read.bytes) === content;
}

function syncFolder(root: string, folder: string): void {
  try {
    const held = HeldFolder.of(root, folder === "." ? "x" : `${folder}/x`);
    held.sync();
    held.close();
  } catch {
    // It was removed.
  }
}
