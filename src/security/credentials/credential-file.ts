/**
 * `creds.enc` on the disk. credential-format.ts has its bytes.
 *
 * 1. It is read and replaced whole, under a lock: of two processes that change it at once neither loses what the other wrote.
 * 2. A failed change leaves the file unchanged.
 * 3. A file that cannot be opened is never overwritten.
 */
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { Clock } from "../../base/clock.js";
import { readCredentialText } from "./catalogue.js";
import { CredentialError } from "./credential-error.js";
import { type FileKey, seal, unseal } from "./credential-format.js";
import type { CredentialEntry } from "./entry.js";

export interface CredentialFileOptions {
  readonly path: string;
  readonly key: () => Promise<FileKey>;
  readonly clock: Clock;
}

/** Another process may renew a token while it holds the lock, which takes a round trip to the provider. */
const PATIENCE_MS = 45_000;

export class CredentialFile {
  readonly #options: CredentialFileOptions;

  constructor(options: CredentialFileOptions) {
    this.#options = options;
  }

  get path(): string {
    return this.#options.path;
  }

  async read(): Promise<readonly CredentialEntry[]> {
    const text = readCredentialText(this.path);
    return text === undefined ? [] : unseal(text, (await this.#options.key()).key, this.path);
  }

  /** Returns the result of `change`. */
  async change<T>(
    change: (entries: readonly CredentialEntry[]) => Promise<Change<T>> | Change<T>,
  ): Promise<Change<T>["result"]> {
    const { path, key, clock } = this.#options;
    // Before the lock: it may ask the user.
    const fileKey = await key();
    const [{ LockBusy, withLock }, { writeFileAtomic }] = await Promise.all([
      import("../../system/file-lock.js"),
      import("../../system/atomic-file.js"),
    ]);
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      return await withLock(`${path}.lock`, { clock, patienceMs: PATIENCE_MS }, async () => {
        const text = readCredentialText(path);
        const { entries, result } = await change(text === undefined ? [] : unseal(text, fileKey.key, path));
        if (entries !== undefined) {
          await writeFileAtomic(path, seal(entries, fileKey), { mode: 0o600, flush: "file-and-folder" });
        }
        return result;
      });
    } catch (error) {
      if (error instanceof LockBusy) throw new CredentialError("busy", `${path} is ${error.message}`);
      if (typeof (error as NodeJS.ErrnoException).code !== "string" || error instanceof CredentialError) throw error;
      throw new CredentialError("unavailable", `Oxbow cannot write ${path}: ${(error as Error).message}.`);
    }
  }

  /** Replaces the entry of the same provider and account. */
  async put(entry: CredentialEntry): Promise<"added" | "replaced"> {
    return this.change((entries) => {
      const others = entries.filter((other) => !isSame(other, entry));
      return { entries: [...others, entry], result: others.length < entries.length ? "replaced" : "added" };
    });
  }

  /** False when there is none. */
  async remove(which: EntryName): Promise<boolean> {
    return this.change((entries) => {
      const others = entries.filter((other) => !isSame(other, which));
      return others.length < entries.length ? { entries: others, result: true } : { result: false };
    });
  }
}

export interface Change<T> {
  /** Holds what is written; absent when nothing is. */
  readonly entries?: readonly CredentialEntry[];
  readonly result: T;
}

export interface EntryName {
  readonly provider: string;
  readonly account: string;
}

export function isSame(one: EntryName, other: EntryName): boolean {
  return one.provider === other.provider && one.account === other.account;
}
