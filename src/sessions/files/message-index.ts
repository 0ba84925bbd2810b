/**
 * `messages.jsonl`: which message files we wrote and what was in them, to detect edits by a person.
 *
 *     {"file":"0002-assistant.md","sum":"…","at":3}   a file as we wrote it last, and the event it begins with
 *     {…,"stamp":"…"}                                 the same, and how it looks to the file system while it holds that
 *     {"done":17,"from":9,"highest":6}                the files of the events up to here will not change any more
 *     {"edited":true}                                 the user has edited: from now on the files are the conversation
 *     {"lost":true}                                   the index was lost, and is rebuilt until the next `done`
 *
 * 1. It can be rebuilt: without it the files are made again from the log and compared with the existing ones.
 * 2. `from` is the event with which the conversation begins, the last summary or the first message that it keeps. `highest` is the
 *    highest number that a file ever had. A `done` with these two, and with `edited` after an edit, contains all that a turn needs to know
 *    about earlier files. Reading goes backwards from the end of the file and stops there.
 */
import { writeFile } from "node:fs/promises";
import { writeFileAtomic } from "../../system/atomic-file.js";
import { errnoOf, guarded } from "./file-errors.js";
import { LineFile } from "./line-file.js";
import { parseMessageFileName } from "./message-file.js";

export interface IndexedFile {
  readonly file: string;
  /** Of its bytes, as `digestOf` makes them. */
  readonly sum: string;
  readonly at: number;
  /** Says how the file looks from outside while it holds these bytes; absent when it was changed too lately to be sure. */
  readonly stamp?: string;
}

export type IndexLine =
  | IndexedFile
  | { readonly done: number; readonly from?: number; readonly highest?: number; readonly edited?: boolean }
  | { readonly edited: true };

const LOST = '{"lost":true}\n';

export class MessageIndex {
  readonly path: string;
  readonly #byStart = new Map<number, IndexedFile>();
  readonly #byName = new Map<string, IndexedFile>();
  #done = 0;
  #edited = false;
  #lost = false;
  #highest = 0;
  #from = 0;
  /** Lines about files of earlier events were not read. */
  #isPartial = false;
  #inode: number | undefined;
  #read = 0;

  constructor(path: string) {
    this.path = path;
  }

  get done(): number {
    return this.#done;
  }

  get edited(): boolean {
    return this.#edited;
  }

  /** It was rebuilt: a file that it does not name may still be ours. */
  get lost(): boolean {
    return this.#lost;
  }

  /** The event with which the conversation begins; 0 when that is the first one. */
  get from(): number {
    return this.#from;
  }

  /** The highest number of our files. */
  get highest(): number {
    return this.#highest;
  }

  /** Another number means that everything was read again. */
  get inode(): number | undefined {
    return this.#inode;
  }

  /** All of them, once `readAll` was called. */
  get files(): IterableIterator<IndexedFile> {
    return this.#byName.values();
  }

  /** The number of the first file of the conversation: a summary replaces those before it. */
  get firstSeq(): number {
    if (this.#from === 0) return 0;
    let first = this.#highest + 1;
    for (const { file, at } of this.files) if (at >= this.#from) first = Math.min(first, seqOf(file));
    return first;
  }

  startingAt(event: number): IndexedFile | undefined {
    return this.#byStart.get(event);
  }

  named(file: string): IndexedFile | undefined {
    return this.#byName.get(file);
  }

  /** Reads the lines since the last read, of this or another process. The first read begins at the end. */
  async refresh(): Promise<void> {
    await this.#use("read", async (file) => {
      const end = await file.end();
      if (file.inode !== this.#inode || end < this.#read) {
        this.#forget(file.inode);
        for (const text of await this.#newestLines(file)) this.#take(text);
      } else {
        for await (const lines of file.lines(this.#read)) for (const { text } of lines) this.#take(text);
      }
      this.#read = end;
    });
  }

  /** Includes the lines about files that a summary replaces. */
  async readAll(): Promise<void> {
    if (!this.#isPartial) return;
    await this.#use("read", async (file) => {
      const end = await file.end();
      this.#forget(file.inode);
      for await (const lines of file.lines(0)) for (const { text } of lines) this.#take(text);
      this.#read = end;
    });
  }

  /** Right after a refresh, under the same lock. */
  async add(...lines: readonly IndexLine[]): Promise<void> {
    const texts = lines.map((line) => JSON.stringify(line));
    await this.#use("append", async (file) => {
      await file.append(texts.map((text) => `${text}\n`).join(""));
      this.#read = await file.end();
    });
    for (const text of texts) this.#take(text);
  }

  /** The files of the events up to `done` are as they will be; the conversation begins with `from`. */
  async addDone(done: number, from: number): Promise<void> {
    const flag = this.#edited ? { edited: true } : {};
    await this.add({ done, from, highest: this.#highest, ...flag });
  }

  /** Forgets everything else. */
  async replace(lines: readonly IndexLine[]): Promise<void> {
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    await guarded(this.path, () => writeFileAtomic(this.path, text, { mode: 0o600, when: "replace" }));
    await this.refresh();
  }

  /**
   * The lines that count, the oldest first. A pass may write files of a turn that has just begun before its `done`, so those of the
   * conversation go back to the second `done` before its beginning.
   */
  async #newestLines(file: LineFile): Promise<readonly string[]> {
    const found: string[] = [];
    let from: number | undefined;
    let earlier = 0;
    for await (const { text } of file.linesFromEnd()) {
      found.push(text);
      const line = parse(text);
      if (typeof line?.done !== "number") continue;
      from ??= typeof line.from === "number" && typeof line.highest === "number" ? line.from : 0;
      if (line.done < from && ++earlier === 2) {
        this.#isPartial = true;
        break;
      }
    }
    return found.reverse();
  }

  async #use(mode: "read" | "append", work: (file: LineFile) => Promise<void>): Promise<void> {
    await guarded(this.path, () => writeFile(this.path, LOST, { flag: "wx", mode: 0o600 })).catch((error: unknown) => {
      if (errnoOf(error) !== "EEXIST") throw error;
    });
    const file = await LineFile.open(this.path, mode);
    try {
      await work(file);
    } finally {
      await file.close();
    }
  }

  #forget(inode: number): void {
    this.#byStart.clear();
    this.#byName.clear();
    this.#done = this.#highest = this.#from = 0;
    this.#edited = this.#lost = this.#isPartial = false;
    this.#read = 0;
    this.#inode = inode;
  }

  #take(text: string): void {
    const { file, sum, at, stamp, done, from, highest, edited, lost } = parse(text) ?? {};
    if (typeof file === "string" && typeof sum === "string" && typeof at === "number") {
      const entry = { file, sum, at, ...(typeof stamp === "string" && { stamp }) };
      this.#byStart.set(at, entry);
      this.#byName.set(file, entry);
      this.#highest = Math.max(this.#highest, seqOf(file));
    }
    if (lost === true) this.#lost = true;
    if (typeof done === "number") {
      this.#done = Math.max(this.#done, done);
      this.#lost = false;
    }
    if (typeof from === "number") this.#from = Math.max(this.#from, from);
    if (typeof highest === "number") this.#highest = Math.max(this.#highest, highest);
    if (edited === true) this.#edited = true;
  }
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function seqOf(file: string): number {
  return parseMessageFileName(file)?.seq ?? 0;
}
