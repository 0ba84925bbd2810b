/**
 * A lock that several processes share and that outlives none of them.
 *
 * 1. A lock is a name that can be made once; it is made together with its content, which says who holds it. It is a symbolic
 *    link, as a link appears complete; where there are none it is a file.
 * 2. A holder that has ended loses its lock. Who ended is told by process id and start time within one system; a holder in
 *    another one (a container, another machine on the same disk) cannot be looked at and is believed for ten minutes.
 * 3. A lock is only broken by who holds the lock on breaking exactly this one: of two processes that find the same dead
 *    holder, the slower one does not break the lock of the faster.
 */
import { randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { lstat, mkdir, readFile, readlink, symlink, unlink, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
import type { Clock } from "../base/clock.js";
import { readRow, startTimeOf } from "./process-table.js";

export interface LockOptions {
  readonly clock: Clock;
  /** How long to wait for the holder. */
  readonly patienceMs?: number;
}

/** Somebody alive held the lock for longer than the caller would wait. The message lacks its subject. */
export class LockBusy extends Error {
  override readonly name = "LockBusy";
}

const PATIENCE_MS = 15_000;
const PAUSE_MAX_MS = 10;
const STRANGER_MS = 10 * 60_000;

interface Holder {
  /** The system whose process ids these are. */
  readonly system: string;
  readonly boot: string;
  readonly pid: number;
  readonly startTime: number;
}

export async function withLock<T>(path: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  const mark = await acquire(path, options);
  try {
    return await work();
  } finally {
    await release(path, mark);
  }
}

async function acquire(path: string, options: LockOptions): Promise<string> {
  const { clock, patienceMs = PATIENCE_MS } = options;
  const mark = ownMark();
  const until = clock.now() + patienceMs;
  for (let pause = 1; ; pause = Math.min(pause * 2, PAUSE_MAX_MS)) {
    if (await make(path, mark)) return mark;
    const held = await read(path);
    if (held === undefined) continue;
    if (await isAbandoned(path, held, clock)) {
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

async function breakLock(path: string, held: string, options: LockOptions): Promise<void> {
  const token = held.split("_").at(-1) ?? "";
  await withLock(`${path}.${token}`, options, async () => {
    // Nobody but us may remove this holder's lock now, so it cannot change between the look and the removal.
    if ((await read(path)) === held) await ifThere(() => unlink(path));
  });
}

/** False when somebody holds it. */
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

async function isAbandoned(path: string, held: string, clock: Clock): Promise<boolean> {
  const holder = parseMark(held);
  const us = self();
  if (holder?.system === us.system) return holder.boot !== us.boot || !isAlive(holder);
  const made = await ifThere(() => lstat(path));
  return made !== undefined && clock.wall() - made.mtimeMs > STRANGER_MS;
}

function isAlive({ pid, startTime }: Holder): boolean {
  if (pid === process.pid) return startTime === self().startTime;
  if (startTime !== 0) return readRow(pid)?.startTime === startTime;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) === "EPERM";
  }
}

function ownMark(): string {
  const { system, boot, pid, startTime } = self();
  return `${system}_${boot}_${pid}_${startTime}_${randomBytes(8).toString("hex")}`;
}

function parseMark(mark: string): Holder | undefined {
  const [system, boot, pid, startTime, token] = mark.split("_");
  if (system === undefined || boot === undefined || token === undefined) return undefined;
  return { system, boot, pid: Number(pid), startTime: Number(startTime) };
}

let known: Holder | undefined;

function self(): Holder {
  known ??= {
    system: `${hostname()}${/\d+/.exec(told(() => readlinkSync("/proc/self/ns/pid")))?.[0] ?? ""}`.replace(
      /[^A-Za-z0-9.-]/g,
      "",
    ),
    boot: told(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8")).replace(/[^A-Za-z0-9]/g, ""),
    pid: process.pid,
    startTime: startTimeOf(process.pid),
  };
  return known;
}

/** What the system tells, or nothing where it does not. */
function told(ask: () => string): string {
  try {
    return ask();
  } catch {
    return "";
  }
}

function busy(path: string, held: string): LockBusy {
  const holder = parseMark(held);
  const who = holder?.system === self().system ? `process ${holder.pid}` : "a process of another system";
  return new LockBusy(
    `held by ${who} for too long. Try again when that has finished; if it has ended, remove ${path}.`,
  );
}

function errnoOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}

/** Undefined when what it touches is not there. */
async function ifThere<T>(action: () => Promise<T>): Promise<T | undefined> {
  try {
    return await action();
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
