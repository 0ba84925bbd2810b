/**
 * `messages.jsonl`: which message files we wrote and what was in them, so that the hand of a person can be told from ours.
 *
 *     {"file":"0002-assistant.md","sum":"…","at":3}   a file as we wrote it last, and the event it begins with
 *     {"done":17}                                     the files of the events up to here will not change any more
 *     {"edited":true}                                 a person has been here: from now on the files are the conversation
 *     {"lost":true}                                   this was gone, and is being made again until the next `done`
 *
 * It is only a memory: without it the files are made again from the log and compared with what is there.
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
}

export type IndexLine = IndexedFile | { readonly done: number } | { readonly edited: true };

const LOST = '{"lost":true}\n';

export class MessageIndex {
  readonly path: string;
  readonly #byStart = new Map<number, IndexedFile>();
  readonly #byName = new Map<string, IndexedFile>();
  #done = 0;
  #edited = false;
  #lost = false;
  #highest = 0;
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

  /** It was made anew: a file that it does not name may be ours all the same. */
  get lost(): boolean {
    return this.#lost;
  }

  get size(): number {
    return this.#byName.size;
  }

  /** The highest number that a file of ours ever had. */
  get highest(): number {
    return this.#highest;
  }

  /** Another number means that everything was read anew. */
  get inode(): number | undefined {
    return this.#inode;
  }

  get files(): IterableIterator<IndexedFile> {
    return this.#byName.values();
  }

  startingAt(event: number): IndexedFile | undefined {
    return this.#byStart.get(event);
  }

  named(file: string): IndexedFile | undefined {
    return this.#byName.get(file);
  }

  /** Reads what was added since the last look, by us or by another process. */
  async refresh(): Promise<void> {
    await this.#use("read", async (file) => {
      const end = await file.end();
      if (file.inode !== this.#inode || end < this.#read) this.#forget(file.inode);
      for await (const lines of file.lines(this.#read)) for (const { text } of lines) this.#take(text);
      this.#read = end;
    });
  }

  /** Right after a refresh, under the same lock. */
  async add(line: IndexLine): Promise<void> {
    const json = JSON.stringify(line);
    await this.#use("append", async (file) => {
      await file.append(`${json}\n`);
      this.#read = await file.end();
    });
    this.#take(json);
  }

  /** Forgets everything else. */
  async replace(lines: readonly IndexLine[]): Promise<void> {
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    await guarded(this.path, () => writeFileAtomic(this.path, text, { mode: 0o600, when: "replace" }));
    await this.refresh();
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
    this.#done = this.#highest = 0;
    this.#edited = this.#lost = false;
    this.#read = 0;
    this.#inode = inode;
  }

  #take(text: string): void {
    let line: Record<string, unknown>;
    try {
      line = JSON.parse(text) as Record<string, unknown>;
    } catch {
      return;
    }
    const { file, sum, at, done, edited, lost } = line;
    if (typeof file === "string" && typeof sum === "string" && typeof at === "number") {
      const entry = { file, sum, at };
      this.#byStart.set(at, entry);
      this.#byName.set(file, entry);
      this.#highest = Math.max(this.#highest, parseMessageFileName(file)?.seq ?? 0);
    }
    if (lost === true) this.#lost = true;
    if (typeof done === "number") {
      this.#done = Math.max(this.#done, done);
      this.#lost = false;
    }
    if (edited === true) this.#edited = true;
  }
}
