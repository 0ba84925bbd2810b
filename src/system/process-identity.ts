/**
 * Identifies a process, and checks whether it still runs.
 *
 * 1. The system reuses process ids. With the start time, an id names one process of one boot. If the system reports no start times
 *    (0), only the id is compared.
 * 2. In another process namespace the same id is another process, so processes there cannot be checked.
 */
import { readFileSync, readlinkSync } from "node:fs";
import { readRow, startTimeOf } from "./process-table.js";

export interface ProcessIdentity {
  readonly pid: number;
  /** In ticks since the machine started. 0 if the system does not report it. */
  readonly startTime: number;
}

let own: ProcessIdentity | undefined;

export function ownIdentity(): ProcessIdentity {
  own ??= { pid: process.pid, startTime: startTimeOf(process.pid) };
  return own;
}

/** Only for a process of this boot and namespace. */
export function isAlive({ pid, startTime }: ProcessIdentity): boolean {
  if (pid === process.pid) return startTime === ownIdentity().startTime;
  return startTime === 0 ? isRunning(pid) : readRow(pid)?.startTime === startTime;
}

/** Tells whether any process has this id now. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Empty if the system does not report it. */
export function bootId(): string {
  return readOrEmpty(() => readFileSync("/proc/sys/kernel/random/boot_id", "latin1")).trim();
}

let namespace: string | undefined;

/** The id of the process namespace, in which process ids are unique; "0" if there is only one. */
export function processNamespace(): string {
  namespace ??= /\d+/.exec(readOrEmpty(() => readlinkSync("/proc/self/ns/pid")))?.[0] ?? "0";
  return namespace;
}

/** This process as part of a name, `PID.NAMESPACE`: an entry with this name is stale once the process has ended. */
export function processMark(): string {
  return `${process.pid}.${processNamespace()}`;
}

/** Tells whether the process of a mark has ended. */
export function isGone(mark: string): boolean {
  const [, pid, where] = /^(\d+)\.(\d+)$/.exec(mark) ?? [];
  if (pid === undefined || where !== processNamespace()) return false;
  // A killed process stays in the list until its parent has asked for its end.
  return !isRunning(Number(pid)) || (process.platform === "linux" && readRow(Number(pid)) === undefined);
}

function readOrEmpty(ask: () => string): string {
  try {
    return ask();
  } catch {
    return "";
  }
}
