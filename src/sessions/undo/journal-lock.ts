/**
 * One process at a time adds to a journal.
 *
 * 1. The lock is a second name of a file that names its holder: it appears complete, and only one can take it.
 * 2. A holder that is dead has lost it. On Linux a process is known by its id and the time it started, within one boot and
 *    one process namespace. If that is unknown, the file's age decides: a holder renews it.
 */
import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, renameSync, statSync, unlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../base/clock.js";
import { bootId, isAlive as isAliveHere, ownIdentity, processNamespace } from "../../system/process-identity.js";
import { StoreError } from "../store.js";
import { storeError } from "./journal-file.js";

const RETRY_MS = 25;
const RENEW_MS = 15_000;
const LEFT_BEHIND_MS = 60_000;

/** Whether a live process holds the lock of this folder. */
export function isLocked(folder: string): boolean {
  const holder = readHolder(folder);
  return holder !== undefined && isAlive(holder, folder);
}

export class JournalLock {
  readonly #folder: string;
  readonly #clock: Clock;
  /** Stays from call to call: making a file takes several times as long as giving it a second name. */
  readonly #own: string;
  readonly #path: string;
  #held: { readonly ino: number } | undefined;
  #cancelRenewal: () => void = () => {};

  constructor(folder: string, clock: Clock) {
    this.#folder = folder;
    this.#clock = clock;
    this.#own = join(folder, `holder.${process.pid}`);
    this.#path = lockIn(folder);
  }

  /** Waits for another holder at most this long. */
  async take(waitMs: number): Promise<void> {
    const until = this.#clock.now() + waitMs;
    while (!this.#try()) {
      if (clearLeftBehind(this.#folder)) continue;
      if (this.#clock.now() >= until) throw busy(this.#folder);
      await new Promise<void>((resolve) => this.#clock.after(RETRY_MS, resolve));
    }
    this.#renewLater();
  }

  release(): void {
    this.#cancelRenewal();
    // Another process may hold it by now: a machine that slept looks dead.
    const found = statSync(this.#path, NO_THROW);
    if (found !== undefined && found.ino === this.#held?.ino) remove(this.#path);
    this.#held = undefined;
  }

  /** Leaves nothing behind. */
  close(): void {
    remove(this.#own);
  }

  #try(): boolean {
    try {
      if (statSync(this.#own, NO_THROW) === undefined) writeFileSync(this.#own, self(), { mode: 0o600 });
      else this.#touch();
      takeName(this.#own, this.#path);
      this.#held = statSync(this.#path);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
      throw storeError(error, this.#folder);
    }
  }

  #touch(): void {
    const now = Date.now() / 1000;
    utimesSync(this.#own, now, now);
  }

  #renewLater(): void {
    this.#cancelRenewal = this.#clock.after(RENEW_MS, () => {
      try {
        const now = Date.now() / 1000;
        utimesSync(this.#path, now, now);
      } catch {
        // The session was removed while its tool ran: there is nothing left to hold.
      }
      this.#renewLater();
    });
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It does not exist, or no longer does.
  }
}

const NO_THROW = { throwIfNoEntry: false } as const;

function lockIn(folder: string): string {
  return join(folder, "lock");
}

function takeName(own: string, path: string): void {
  try {
    linkSync(own, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw error;
    // A file system without second names.
    writeFileSync(path, self(), { mode: 0o600, flag: "wx" });
  }
}

/** True when it is worth another attempt. */
function clearLeftBehind(folder: string): boolean {
  const holder = readHolder(folder);
  if (holder === undefined) return true;
  if (isAlive(holder, folder)) return false;
  const aside = `${lockIn(folder)}.${randomBytes(6).toString("hex")}`;
  try {
    renameSync(lockIn(folder), aside);
    // Another process may have taken the lock since the check: then this lock is restored.
    if (readFile(aside) !== holder) linkSync(aside, lockIn(folder));
    unlinkSync(aside);
    unlinkSync(join(folder, `holder.${holder.split(" ")[0]}`));
  } catch {
    // Another process was faster.
  }
  return true;
}

function readHolder(folder: string): string | undefined {
  return readFile(lockIn(folder));
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
  const { pid, startTime } = ownIdentity();
  own ??= [pid, startTime, space()].join(" ");
  return own;
}

/** Within it process ids mean the same. */
function space(): string {
  return `${bootId()} ${processNamespace()}`;
}

function isAlive(holder: string, folder: string): boolean {
  const [pid, started, ...where] = holder.split(" ");
  if (where.join(" ") !== space()) return ageOf(folder) < LEFT_BEHIND_MS;
  return isAliveHere({ pid: Number(pid), startTime: Number(started) });
}

function ageOf(folder: string): number {
  const found = statSync(lockIn(folder), NO_THROW);
  return found === undefined ? LEFT_BEHIND_MS : Date.now() - found.mtimeMs;
}

function busy(folder: string): StoreError {
  const pid = readHolder(folder)?.split(" ")[0] || "?";
  return new StoreError(
    "busy",
    `A tool of this session is running, or its files are being restored, in process ${pid}. Wait until that is done, or stop it.`,
  );
}
