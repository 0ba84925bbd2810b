/**
 * Decides whether the message files of the conversation are still as we wrote them. Files before a summary do not count.
 *
 * 1. The first check looks at each file, and reads those whose stamp differs from the index, usually those of the turn before. Later
 *    checks look only at files that changed since (folder-watch.ts). So the time depends on the turn, not on the session.
 * 2. A stamp goes to the index once its file is old enough: one that was changed a moment ago may change again unseen.
 */
import { randomBytes } from "node:crypto";
import { lstatSync, type Stats } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../base/clock.js";
import { digestOf } from "./event-log.js";
import { FolderWatch } from "./folder-watch.js";
import { parseMessageFileName } from "./message-file.js";
import type { IndexedFile, MessageIndex } from "./message-index.js";

export interface WrittenFilesOptions {
  readonly folder: string;
  readonly clock: Clock;
  /** The names of the message files that are there. */
  readonly names: () => Promise<readonly string[]>;
  readonly read: (name: string) => Buffer | undefined;
  /** For tests. */
  readonly stat?: (path: string) => Stats | undefined;
}

/** After this many files, other work gets a turn. */
const STAMPS_AT_ONCE = 1000;
const SETTLED_MS = 2000;

export class WrittenFiles {
  readonly #options: WrittenFilesOptions;
  readonly #stat: (path: string) => Stats | undefined;
  /** Begins when every file was found as we wrote it. */
  #watch: FolderWatch | undefined;

  constructor(options: WrittenFilesOptions) {
    this.#options = options;
    this.#stat = options.stat ?? ((path) => lstatSync(path, { throwIfNoEntry: false }));
  }

  /** The next check looks at every file again. */
  forget(): void {
    this.#watch?.close();
    this.#watch = undefined;
  }

  async areAsWritten(index: MessageIndex): Promise<boolean> {
    // The name is one of those that are removed when a crash leaves them.
    const touched = await this.#watch?.upToNow(`.0000-mark.md.${randomBytes(8).toString("hex")}.tmp`);
    const first = index.firstSeq;
    const names = touched && [...touched].filter((name) => seqOf(name) >= first);
    // Before they are read: what is touched while we read is reported once more.
    this.#watch?.forget(touched ? [...touched] : []);
    const same = names === undefined ? await this.#areAll(index) : names.every((name) => this.#isOurs(name, index));
    if (!same) this.forget();
    return same;
  }

  /** Message files that the index does not name. */
  async strangers(index: MessageIndex): Promise<readonly string[]> {
    const first = index.firstSeq;
    const isStrange = (file: string) => seqOf(file) >= first && index.named(file) === undefined;
    const touched = this.#watch?.touched;
    // A late report only costs a number.
    if (touched !== undefined && ![...touched].some(isStrange)) return [];
    return (await this.#options.names()).filter(isStrange);
  }

  async #areAll(index: MessageIndex): Promise<boolean> {
    const { folder, clock } = this.#options;
    this.forget();
    // Before the first look, so that a change during it is reported.
    const counts = (name: string) => parseMessageFileName(name) !== undefined;
    this.#watch = await FolderWatch.begin(folder, { clock, counts });
    const first = index.firstSeq;
    const names = (await this.#options.names()).filter((name) => seqOf(name) >= first);
    const known = [...index.files].filter(({ file }) => seqOf(file) >= first);
    if (names.length !== known.length) return false;
    const stamped: IndexedFile[] = [];
    for (const [i, name] of names.entries()) {
      if (i % STAMPS_AT_ONCE === STAMPS_AT_ONCE - 1) await new Promise<void>((resolve) => setImmediate(resolve));
      const entry = index.named(name);
      const found = entry && this.#look(name, entry);
      if (found === undefined) return false;
      if (found !== entry) stamped.push(found);
    }
    // Without it the files are read again.
    if (stamped.length > 0) await index.add(...stamped).catch(() => {});
    return true;
  }

  /** A file that is not ours may have come and gone. */
  #isOurs(name: string, index: MessageIndex): boolean {
    const known = index.named(name);
    if (known !== undefined) return this.#look(name, known) !== undefined;
    return this.#stat(join(this.#options.folder, name)) === undefined;
  }

  /** Undefined when the file is not as we wrote it. Has a stamp when it may be believed. */
  #look(name: string, known: IndexedFile): IndexedFile | undefined {
    const found = this.#stat(join(this.#options.folder, name));
    if (found === undefined) return undefined;
    const stamp = `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`;
    if (known.stamp === stamp) return known;
    const seenAt = this.#options.clock.wall();
    const bytes = this.#options.read(name);
    if (bytes === undefined || digestOf(bytes) !== known.sum) return undefined;
    const { file, sum, at } = known;
    return seenAt - found.ctimeMs > SETTLED_MS ? { file, sum, at, stamp } : known;
  }
}

function seqOf(file: string): number {
  return parseMessageFileName(file)?.seq ?? 0;
}
