/**
 * Tells whether the message files are still as we wrote them.
 *
 * 1. The first question looks at every file. Later ones look only at files that were touched since (folder-watch.ts), so that a
 *    turn of a long session costs what a turn of a short one costs.
 * 2. Where there is no watch, a file whose stamp has not changed since it was read is not read again.
 */
import { randomBytes } from "node:crypto";
import { lstatSync, type Stats } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../base/clock.js";
import { digestOf } from "./chain.js";
import { FolderWatch } from "./folder-watch.js";
import { parseMessageFileName } from "./message-file.js";
import type { MessageIndex } from "./message-index.js";

export interface WrittenFilesOptions {
  readonly folder: string;
  readonly clock: Clock;
  /** The names of the message files that are there. */
  readonly names: () => Promise<readonly string[]>;
  readonly read: (name: string) => Buffer | undefined;
  /** For tests. */
  readonly stat?: (path: string) => Stats | undefined;
}

/** Between as many files other work gets its turn. */
const STAMPS_AT_ONCE = 1000;
const SETTLED_MS = 2000;

export class WrittenFiles {
  readonly #options: WrittenFilesOptions;
  readonly #stat: (path: string) => Stats | undefined;
  /** Of the files that were as we wrote them: what they looked like to the file system then. */
  readonly #stamps = new Map<string, string>();
  /** Begins when every file was found as we wrote it. */
  #watch: FolderWatch | undefined;

  constructor(options: WrittenFilesOptions) {
    this.#options = options;
    this.#stat = options.stat ?? ((path) => lstatSync(path, { throwIfNoEntry: false }));
  }

  /** The next question looks at every file again. */
  forget(): void {
    this.#watch?.close();
    this.#watch = undefined;
  }

  async areAsWritten(index: MessageIndex): Promise<boolean> {
    // The name is one of those that are removed when a crash leaves them.
    const touched = await this.#watch?.upToNow(`.0000-mark.md.${randomBytes(8).toString("hex")}.tmp`);
    const names = touched && [...touched];
    // Before they are read: what is touched while we read is reported once more.
    this.#watch?.forget(names ?? []);
    const same = names === undefined ? await this.#areAll(index) : names.every((name) => this.#isOurs(name, index));
    if (!same) this.forget();
    return same;
  }

  /** Message files that the index does not name. */
  async strangers(index: MessageIndex): Promise<readonly string[]> {
    const isStrange = (file: string) => index.named(file) === undefined;
    const touched = this.#watch?.touched;
    // A report that comes too late costs a number that a person has taken too, and nothing else.
    if (touched !== undefined && ![...touched].some(isStrange)) return [];
    return (await this.#options.names()).filter(isStrange);
  }

  async #areAll(index: MessageIndex): Promise<boolean> {
    const { folder, clock } = this.#options;
    this.forget();
    // Before the first look, so that a change during it is reported.
    const counts = (name: string) => parseMessageFileName(name) !== undefined;
    this.#watch = await FolderWatch.begin(folder, { clock, counts });
    const names = await this.#options.names();
    if (names.length !== index.size) return false;
    for (const [i, name] of names.entries()) {
      if (i % STAMPS_AT_ONCE === STAMPS_AT_ONCE - 1) await new Promise<void>((resolve) => setImmediate(resolve));
      const known = index.named(name);
      if (known === undefined || !this.#isSame(name, known.sum)) return false;
    }
    return true;
  }

  /** A file that is not ours may have come and gone. */
  #isOurs(name: string, index: MessageIndex): boolean {
    const known = index.named(name);
    if (known !== undefined) return this.#isSame(name, known.sum);
    return this.#stat(join(this.#options.folder, name)) === undefined;
  }

  #isSame(name: string, sum: string): boolean {
    const found = this.#stat(join(this.#options.folder, name));
    if (found === undefined) return false;
    const stamp = `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs} ${sum}`;
    if (this.#stamps.get(name) === stamp) return true;
    const bytes = this.#options.read(name);
    if (bytes === undefined || digestOf(bytes) !== sum) return false;
    // One that was changed a moment ago may change again within the same tick of the file system's clock.
    if (this.#options.clock.wall() - found.ctimeMs > SETTLED_MS) this.#stamps.set(name, stamp);
    return true;
  }
}
