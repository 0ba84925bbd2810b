/**
 * The one lock that processes share through the file system. A crash never leaves it locked.
 *
 * 1. A lock is a name that only one process can create, together with its content: who holds it and since when. It is a symbolic
 *    link, because a link appears complete. A file system without links gets a file.
 * 2. A holder that has ended loses its lock. On the same system the process id, its start time and the boot id show whether it has
 *    ended. A process cannot check a holder in another system (a container, another machine on the same disk). Each holder therefore
 *    renews its lock, and a lock from another system that was not renewed for two minutes counts as abandoned.
 * 3. A process breaks an abandoned lock only while it holds the lock on breaking exactly this one. Of two processes that find the
 *    same dead holder, the slower one therefore cannot break the lock of the faster one.
 * 4. All steps are short synchronous calls. Only the wait for another holder differs: `withLock` and `holdLock` let the process work
 *    meanwhile, `holdLockSync` blocks it (needed while a process exits) and does not renew.
 */
import { createHash, randomBytes } from "node:crypto";
import {
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import type { Clock } from "../base/clock.js";
import { bootId, isAlive, ownIdentity, type ProcessIdentity, processNamespace } from "./process-identity.js";

export interface LockOptions {
  readonly clock: Clock;
  /** Says how long to wait for a live holder. */
  readonly patienceMs?: number;
  readonly renewMs?: number;
}

/** Describes who holds a lock. */
export interface LockHolder {
  /** Undefined for a process of another system: its id means nothing here. */
  readonly pid: number | undefined;
  /** Milliseconds since the epoch; undefined if the lock does not say. */
  readonly since: number | undefined;
}

/** A live process held the lock for longer than the caller wanted to wait. The message lacks its subject. */
export class LockBusy extends Error {
  override readonly name = "LockBusy";
  readonly holder: LockHolder;

  constructor(message: string, holder: LockHolder) {
    super(message);
    this.holder = holder;
  }
}

export interface HeldLock {
  /** False once another process has taken the lock because this process looked dead. Reads one link. */
  isHeld(): boolean;
  release(): void;
}

const PATIENCE_MS = 15_000;
const PAUSE_MAX_MS = 10;
const RENEW_MS = 15_000;
const ABANDONED_MS = 120_000;

interface Holder extends ProcessIdentity {
  /** The system that gave out the process id. */
  readonly system: string;
  readonly boot: string;
  readonly since?: number;
}

export async function withLock<T>(path: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  const lock = await holdLock(path, options);
  try {
    return await work();
  } finally {
    lock.release();
  }
}

/** Holds the lock, and renews it, until `release`. */
export async function holdLock(path: string, options: LockOptions): Promise<HeldLock> {
  const { clock, renewMs = RENEW_MS } = options;
  const attempt = new Attempt(path, options);
  for (let pause = 1; !attempt.succeeds(); pause = Math.min(pause * 2, PAUSE_MAX_MS)) {
    await new Promise<void>((resolve) => clock.after(pause, resolve));
  }
  // The renewal must not keep a process alive that has nothing else to do.
  const timer = setInterval(() => renew(path, attempt.mark), renewMs).unref();
  return held(path, attempt.mark, () => clearInterval(timer));
}

/** For work of a moment: blocks the process while it waits. */
export function holdLockSync(path: string, options: LockOptions): HeldLock {
  const attempt = new Attempt(path, options);
  while (!attempt.succeeds()) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  return held(path, attempt.mark, () => {});
}

/** The live holder of a lock; undefined when the lock is free. */
export function lockHolder(path: string): LockHolder | undefined {
  const mark = read(path);
  return mark === undefined || isAbandoned(path, mark) ? undefined : holderOf(mark);
}

/** Removes the abandoned locks of a folder. */
export function sweepLocks(folder: string, options: LockOptions): void {
  for (const name of ifThere(() => readdirSync(folder)) ?? []) {
    const path = join(folder, name);
    const mark = read(path);
    if (mark !== undefined && isAbandoned(path, mark)) breakLock(path, mark, options.clock);
  }
}

/** One process that tries to get a lock. */
class Attempt {
  readonly mark: string;
  readonly #path: string;
  readonly #clock: Clock;
  readonly #until: number;
  readonly #breakUntil: number;

  constructor(path: string, { clock, patienceMs = PATIENCE_MS }: LockOptions) {
    this.mark = ownMark(clock);
    this.#path = path;
    this.#clock = clock;
    this.#until = clock.now() + patienceMs;
    this.#breakUntil = clock.now() + Math.max(patienceMs, PATIENCE_MS);
  }

  /** False if the caller should try again after a pause. Throws LockBusy when the time is over. */
  succeeds(): boolean {
    for (;;) {
      if (make(this.#path, this.mark)) return true;
      const mark = read(this.#path);
      if (mark === undefined) continue;
      const abandoned = isAbandoned(this.#path, mark);
      if (abandoned && breakLock(this.#path, mark, this.#clock)) continue;
      // An abandoned lock has no live holder to wait for: another process is breaking it.
      if (this.#clock.now() >= (abandoned ? this.#breakUntil : this.#until)) throw busy(this.#path, mark);
      return false;
    }
  }
}

function held(path: string, mark: string, end: () => void): HeldLock {
  return {
    isHeld: () => read(path) === mark,
    release: () => {
      end();
      remove(path, mark);
    },
  };
}

function remove(path: string, mark: string): void {
  if (read(path) === mark) ifThere(() => unlinkSync(path));
}

function renew(path: string, mark: string): void {
  const now = new Date();
  try {
    if (read(path) === mark) lutimesSync(path, now, now);
  } catch {
    // The next renewal tries again.
  }
}

/** False while another process breaks the same lock. */
function breakLock(path: string, mark: string, clock: Clock): boolean {
  const breaking = `${path}.${mark.split("_").at(-1) ?? ""}`;
  const own = ownMark(clock);
  if (!make(breaking, own)) {
    const other = read(breaking);
    return other === undefined || (isAbandoned(breaking, other) && breakLock(breaking, other, clock));
  }
  try {
    // No other process may remove this holder's lock now, so it cannot change between the check and the removal.
    remove(path, mark);
  } finally {
    remove(breaking, own);
  }
  return true;
}

/** False when another process holds it. */
function make(path: string, mark: string): boolean {
  try {
    createWith(path, mark);
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false;
    if (errnoOf(error) !== "ENOENT") throw error;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return false;
  }
}

const NO_LINKS: ReadonlySet<string | undefined> = new Set(["EPERM", "ENOSYS", "ENOTSUP", "EOPNOTSUPP", "EINVAL"]);

function createWith(path: string, mark: string): void {
  try {
    symlinkSync(mark, path);
  } catch (error) {
    if (!NO_LINKS.has(errnoOf(error))) throw error;
    writeFileSync(path, mark, { flag: "wx", mode: 0o600 });
  }
}

function read(path: string): string | undefined {
  return ifThere(() => {
    try {
      return readlinkSync(path);
    } catch (error) {
      if (errnoOf(error) !== "EINVAL" && errnoOf(error) !== "UNKNOWN") throw error;
      return readFileSync(path, "utf8");
    }
  });
}

function isAbandoned(path: string, mark: string): boolean {
  const holder = parseMark(mark);
  const us = self();
  if (holder?.system === us.system) return holder.boot !== us.boot || !isAlive(holder);
  // The time of the last renewal is the machine's, so this does not use the injected clock.
  const renewed = ifThere(() => lstatSync(path));
  return renewed !== undefined && Date.now() - renewed.mtimeMs > ABANDONED_MS;
}

/**
 * At most 59 characters: ext4 keeps a link of that length in its inode, and creates and removes it ten times faster than one that
 * needs a block.
 */
function ownMark(clock: Clock): string {
  const { system, boot, pid, startTime } = self();
  const since = Math.round(clock.wall()).toString(36);
  return `${system}_${boot}_${pid}_${startTime}_${since}_${randomBytes(4).toString("hex")}`;
}

function parseMark(mark: string): Holder | undefined {
  const [system, boot, pid, startTime, since, token] = mark.split("_");
  if (system === undefined || boot === undefined || since === undefined) return undefined;
  const holder = { system, boot, pid: Number(pid), startTime: Number(startTime) };
  return token === undefined ? holder : { ...holder, since: Number.parseInt(since, 36) };
}

function holderOf(mark: string): LockHolder {
  const holder = parseMark(mark);
  return { pid: holder?.system === self().system ? holder.pid : undefined, since: holder?.since };
}

let known: Holder | undefined;

function self(): Holder {
  known ??= {
    system: digest(`${hostname()} ${processNamespace()}`),
    boot: digest(bootId()),
    ...ownIdentity(),
  };
  return known;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 10);
}

function busy(path: string, mark: string): LockBusy {
  const holder = holderOf(mark);
  const who = holder.pid === undefined ? "a process of another system" : `process ${holder.pid}`;
  return new LockBusy(
    `held by ${who} for too long. Try again when that has finished; if it has ended, remove ${path}.`,
    holder,
  );
}

function errnoOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}

/** Undefined if the file does not exist. */
function ifThere<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
