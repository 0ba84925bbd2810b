/** Decides which versions of files a session has seen. */
import type { BigIntStats } from "node:fs";
import { printable } from "./printable.js";
import { WorkspaceError } from "./workspace-error.js";

/** Identifies content exactly. */
export async function versionOf(bytes: Uint8Array): Promise<string> {
  const { createHash } = await import("node:crypto");
  return createHash("sha256").update(bytes).digest("hex");
}

/** A weaker identity for files that are too large to read whole: it changes whenever a normal program writes the file. */
export function stampOf(stat: BigIntStats): string {
  return `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}`;
}

export interface ReadState {
  /** Absent when the file was not read whole. */
  readonly version?: string;
  readonly stamp: string;
}

export class ReadFiles {
  readonly #seen = new Map<string, ReadState>();

  record(absolute: string, state: ReadState): void {
    this.#seen.set(absolute, state);
  }

  has(absolute: string): boolean {
    return this.#seen.has(absolute);
  }

  forget(absolute: string): void {
    this.#seen.delete(absolute);
  }

  /** Forgets all other files. */
  keepOnly(kept: ReadonlySet<string>): void {
    for (const absolute of this.#seen.keys()) if (!kept.has(absolute)) this.#seen.delete(absolute);
  }

  rename(from: string, to: string): void {
    const seen = this.#seen.get(from);
    this.#seen.delete(from);
    if (seen !== undefined) this.#seen.set(to, seen);
  }

  /** Throws if the file differs from what the session saw. */
  refuseChanged(absolute: string, now: ReadState, shown: string): void {
    if (this.hasChanged(absolute, now)) throw changed(shown);
  }

  /** Tells whether the file differs from what the session saw. A file that it never saw does not. */
  hasChanged(absolute: string, now: ReadState): boolean {
    const seen = this.#seen.get(absolute);
    if (seen === undefined) return false;
    const isComparable = seen.version !== undefined && now.version !== undefined;
    return isComparable ? seen.version !== now.version : seen.stamp !== now.stamp;
  }
}

export function changed(shown: string): WorkspaceError {
  return new WorkspaceError(
    "changed",
    `${printable(shown)} has changed since it was read. Nothing was written. Read it again and repeat the change on what it says now.`,
  );
}

export function unread(shown: string): WorkspaceError {
  return new WorkspaceError(
    "unread",
    `${printable(shown)} exists and has not been read in this session. Nothing was written. Read it first, so that you do not overwrite content you have not seen.`,
  );
}
