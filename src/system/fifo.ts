/**
 * Unnamed fifos: real pipes that this process can open at either end, and others only through /proc.
 *
 * 1. Nothing is left on disk: a fifo loses its name as soon as it is open. If a process is killed in between, the next one removes it.
 * 2. A returned pipe is reused: its user has checked that no other process holds an end of it.
 */
import { execFile } from "node:child_process";
import { closeSync, constants, openSync, readlinkSync, unlinkSync } from "node:fs";
import { SYSTEM_PATH } from "../base/system-path.js";
import { temporaryPrefix } from "./temporary-entries.js";

export interface Fifo {
  /** A descriptor that counts as neither reader nor writer. */
  readonly handle: number;
  /** The path to open an end of it in this process. */
  readonly path: string;
  /** Says how /proc shows the fifo among a process's open files. */
  readonly link: string;
}

/** Linux's O_PATH. */
const O_PATH = 0o10000000;
const MAX_IDLE = 8;

const idle: Fifo[] = [];
let unavailable = process.platform !== "linux";

/** Undefined if the system does not support them. */
export async function takeFifo(): Promise<Fifo | undefined> {
  if (unavailable) return undefined;
  try {
    return idle.pop() ?? (await createFifo());
  } catch {
    unavailable = true;
    return undefined;
  }
}

/** Makes one in advance for the first command, because it starts a process. */
export async function prepareFifo(): Promise<void> {
  const fifo = await takeFifo();
  if (fifo !== undefined) giveBack(fifo);
}

export function giveBack(fifo: Fifo): void {
  if (idle.length < MAX_IDLE) idle.push(fifo);
  else dropFifo(fifo);
}

/** Another process may still hold an end. */
export function dropFifo({ handle }: Fifo): void {
  closeSync(handle);
}

async function createFifo(): Promise<Fifo> {
  // mkfifo fails for a name that is taken, so no other process can replace it.
  const name = temporaryPrefix("pipe") + Math.random().toString(36).slice(2);
  await new Promise<void>((resolve, reject) => {
    execFile("mkfifo", ["-m", "600", name], { env: { PATH: SYSTEM_PATH } }, (error) =>
      error === null ? resolve() : reject(error),
    );
  });
  let handle: number;
  try {
    handle = openSync(name, O_PATH | constants.O_NOFOLLOW);
  } finally {
    unlinkSync(name);
  }
  const path = `/proc/self/fd/${handle}`;
  return { handle, path, link: readlinkSync(path) };
}
