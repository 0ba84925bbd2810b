/**
 * One process at a time adds to a journal.
 *
 * 1. The lock is a file that names its holder. It appears complete, under a name that only one can take.
 * 2. A holder that is dead has lost it. On Linux a process is known by its id and the time it started, within one boot and
 *    one process namespace. Where that cannot be told, the file's age decides: a holder renews it.
 */
import { randomBytes } from "node:crypto";
import {
  linkSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../base/clock.js";
import { readRow, startTimeOf } from "../../system/process-table.js";
import { StoreError } from "../store.js";
import { storeError } from "./journal-file.js";

const NAME = "lock";
const RETRY_MS = 25;
const RENEW_MS = 15_000;
const LEFT_BEHIND_MS = 60_000;

/** Gives it back. */
export type Release = () => void;

export interface LockOptions {
  readonly clock: Clock;
  /** How long to wait for another holder. */
  readonly waitMs: number;
}

export async function takeLock(folder: string, { clock, waitMs }: LockOptions): Promise<Release> {
  const until = clock.now() + waitMs;
  for (;;) {
    if (tryLock(folder)) return held(join(folder, NAME), clock);
    if (clearLeftBehind(folder)) continue;
    if (clock.now() >= until) throw busy(folder);
    await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve));
  }
}

/** Whether somebody alive holds it. */
export function isLocked(folder: string): boolean {
  const holder = readHolder(folder);
  return holder !== undefined && isAlive(holder, folder);
}

function tryLock(folder: string): boolean {
  const path = join(folder, NAME);
  const own = `${path}.${process.pid}`;
  try {
    writeFileSync(own, self(), { mode: 0o600 });
    try {
      linkSync(own, path);
    } finally {
      unlinkSync(own);
    }
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw storeError(error, folder);
  }
}

function held(path: string, clock: Clock): Release {
  let cancel: () => void;
  const renew = () => {
    try {
      utimesSync(path, new Date(), new Date());
    } catch {
      // The session was removed while its tool ran: there is nothing left to hold.
    }
    cancel = clock.after(RENEW_MS, renew);
  };
  cancel = clock.after(RENEW_MS, renew);
  return () => {
    cancel();
    if (readFile(path) === self()) unlinkSync(path);
  };
}

/** True when it is worth another attempt. */
function clearLeftBehind(folder: string): boolean {
  const holder = readHolder(folder);
  if (holder === undefined) return true;
  if (isAlive(holder, folder)) return false;
  const path = join(folder, NAME);
  const aside = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    renameSync(path, aside);
    // Somebody else may have cleared it and taken it since we looked: then this is theirs, and goes back.
    if (readFile(aside) !== holder) linkSync(aside, path);
    unlinkSync(aside);
  } catch {
    // Somebody else was faster.
  }
  return true;
}

function readHolder(folder: string): string | undefined {
  return readFile(join(folder, NAME));
}

function readFile(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

let own: string | undefined;

function self(): string {
  own ??= [process.pid, startTimeOf(process.pid), space()].join(" ");
  return own;
}

/** Within it process ids mean the same. */
function space(): string {
  try {
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim()} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return process.platform;
  }
}

function isAlive(holder: string, folder: string): boolean {
  const [pid, started, ...where] = holder.split(" ");
  if (where.join(" ") !== space()) return ageOf(folder) < LEFT_BEHIND_MS;
  if (Number(started) > 0) return readRow(Number(pid))?.startTime === Number(started);
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function ageOf(folder: string): number {
  const found = statSync(join(folder, NAME), { throwIfNoEntry: false });
  return found === undefined ? LEFT_BEHIND_MS : Date.now() - found.mtimeMs;
}

function busy(folder: string): StoreError {
  const pid = readHolder(folder)?.split(" ")[0] || "?";
  return new StoreError(
    "busy",
    `A tool of this session is running, or its files are being restored, in process ${pid}. Wait until that is done, or stop it.`,
  );
}
