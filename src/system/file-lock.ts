/**
 * A lock that several processes share and that outlives none of them.
 *
 * 1. A lock is a name that can be made once; it is made together with its content, which says who holds it and since when. It is a
 *    symbolic link, as a link appears complete; where there are none it is a file.
 * 2. A holder that has ended loses its lock. Within one system the process id, its start time and the boot id show whether it has ended.
 *    A holder in another system (a container, another machine on the same disk) cannot be looked at: it is believed for ten minutes,
 *    or, where the lock is renewed (`holdLock`), for as long as the renewals come.
 * 3. A lock is only broken by the process that holds the lock on breaking exactly this one: of two processes that find the same dead
 *    holder, the slower one does not break the lock of the faster.
 */
import { randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { lstat, lutimes, mkdir, readdir, readFile, readlink, symlink, unlink, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import type { Clock } from "../base/clock.js";
import { bootId, isAlive, ownIdentity, type ProcessIdentity, processNamespace } from "./process-identity.js";

export interface LockOptions {
  readonly clock: Clock;
  /** How long to wait for the holder. */
  readonly patienceMs?: number;
  /** How long a holder in another system is believed without a renewal. */
  readonly strangerMs?: number;
}

/** Who holds a lock. */
export interface LockHolder {
  /** Undefined when it is a process of another system, where this number means nothing here. */
  readonly pid: number | undefined;
  /** Milliseconds since the epoch; undefined when the lock does not say. */
  readonly since: number | undefined;
}

/** A live process held the lock for longer than the caller would wait. The message lacks its subject. */
export class LockBusy extends Error {
  override readonly name = "LockBusy";
  readonly holder: LockHolder;

  constructor(message: string, holder: LockHolder) {
    super(message);
    this.holder = holder;
  }
}

/** A lock that is held until `release`, and renewed meanwhile. */
export interface HeldLock {
  /** False once another process has taken it: to that one this process looked dead. Reads one link. */
  isHeld(): boolean;
  release(): Promise<void>;
}

export interface HoldOptions extends LockOptions {
  readonly renewMs: number;
}

const PATIENCE_MS = 15_000;
const PAUSE_MAX_MS = 10;
const STRANGER_MS = 10 * 60_000;

interface Holder extends ProcessIdentity {
  /** The system whose process ids these are. */
  readonly system: string;
  readonly boot: string;
  readonly since?: number;
}

export async function withLock<T>(path: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  const mark = await acquire(path, options);
  try {
    return await work();
  } finally {
    await release(path, mark);
  }
}

export async function holdLock(path: string, options: HoldOptions): Promise<HeldLock> {
  const mark = await acquire(path, options);
  // Renewing must not keep a process alive that has nothing else to do.
  const timer = setInterval(() => void renew(path, mark), options.renewMs).unref();
  return {
    isHeld: () => readNow(path) === mark,
    release: async () => {
      clearInterval(timer);
      await release(path, mark);
    },
  };
}

/** The live holder of a lock; undefined when the lock is free. */
export async function lockHolder(path: string, options: LockOptions): Promise<LockHolder | undefined> {
  const held = await read(path);
  return held === undefined || (await isAbandoned(path, held, options)) ? undefined : holderOf(held);
}

/** Removes the locks in a folder whose holders have ended. */
export async function sweepLocks(folder: string, options: LockOptions): Promise<void> {
  for (const name of (await ifThere(() => readdir(folder))) ?? []) {
    const path = join(folder, name);
    const held = await read(path);
    if (held !== undefined && (await isAbandoned(path, held, options))) await breakLock(path, held, options);
  }
}

async function acquire(path: string, options: LockOptions): Promise<string> {
  const { clock, patienceMs = PATIENCE_MS } = options;
  const mark = ownMark(clock);
  const until = clock.now() + patienceMs;
  for (let pause = 1; ; pause = Math.min(pause * 2, PAUSE_MAX_MS)) {
    if (await make(path, mark)) return mark;
    const held = await read(path);
    if (held === undefined) continue;
    if (await isAbandoned(path, held, options)) {
      await breakLock(path, held, options);
      continue;
    }
    if (clock.now() >= until) throw busy(path, held);
    await new Promise<void>((resolve) => clock.after(pause, resolve));
  }
}

async function release(path: string, mark: string): Promise<void> {
  if ((await read(path)) === mark) await ifThere(() => unlink(path));
}

async function renew(path: string, mark: string): Promise<void> {
  const now = new Date();
  try {
    if ((await read(path)) === mark) await lutimes(path, now, now);
  } catch {
    // The next renewal tries again.
  }
}

async function breakLock(path: string, held: string, options: LockOptions): Promise<void> {
  const token = held.split("_").at(-1) ?? "";
  await withLock(`${path}.${token}`, options, async () => {
    // Only this process may remove this holder's lock now, so it cannot change between the check and the removal.
    if ((await read(path)) === held) await ifThere(() => unlink(path));
  });
}

/** False when another process holds it. */
async function make(path: string, mark: string): Promise<boolean> {
  try {
    await createWith(path, mark);
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false;
    if (errnoOf(error) !== "ENOENT") throw error;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    return false;
  }
}

const NO_LINKS: ReadonlySet<string | undefined> = new Set(["EPERM", "ENOSYS", "ENOTSUP", "EOPNOTSUPP", "EINVAL"]);

async function createWith(path: string, mark: string): Promise<void> {
  try {
    await symlink(mark, path);
  } catch (error) {
    if (!NO_LINKS.has(errnoOf(error))) throw error;
    await writeFile(path, mark, { flag: "wx", mode: 0o600 });
  }
}

async function read(path: string): Promise<string | undefined> {
  return ifThere(async () => {
    try {
      return await readlink(path);
    } catch (error) {
      if (errnoOf(error) !== "EINVAL" && errnoOf(error) !== "UNKNOWN") throw error;
      return await readFile(path, "utf8");
    }
  });
}

function readNow(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    return errnoOf(error) === "ENOENT" ? undefined : textOf(path);
  }
}

async function isAbandoned(path: string, held: string, options: LockOptions): Promise<boolean> {
  const { clock, strangerMs = STRANGER_MS } = options;
  const holder = parseMark(held);
  const us = self();
  if (holder?.system === us.system) return holder.boot !== us.boot || !isAlive(holder);
  const made = await ifThere(() => lstat(path));
  return made !== undefined && clock.wall() - made.mtimeMs > strangerMs;
}

function ownMark(clock: Clock): string {
  const { system, boot, pid, startTime } = self();
  return `${system}_${boot}_${pid}_${startTime}_${Math.round(clock.wall())}_${randomBytes(8).toString("hex")}`;
}

/** A mark of five parts is one of an older program: it does not say since when. */
function parseMark(mark: string): Holder | undefined {
  const [system, boot, pid, startTime, since, token] = mark.split("_");
  if (system === undefined || boot === undefined || since === undefined) return undefined;
  const holder = { system, boot, pid: Number(pid), startTime: Number(startTime) };
  return token === undefined || !/^\d+$/.test(since) ? holder : { ...holder, since: Number(since) };
}

function holderOf(mark: string): LockHolder {
  const holder = parseMark(mark);
  return { pid: holder?.system === self().system ? holder.pid : undefined, since: holder?.since };
}

let known: Holder | undefined;

function self(): Holder {
  known ??= {
    system: `${hostname()}${processNamespace()}`.replace(/[^A-Za-z0-9.-]/g, ""),
    boot: bootId().replace(/[^A-Za-z0-9]/g, ""),
    ...ownIdentity(),
  };
  return known;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function busy(path: string, held: string): LockBusy {
  const holder = holderOf(held);
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
async function ifThere<T>(action: () => Promise<T>): Promise<T | undefined> {
  try {
    return await action();
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
