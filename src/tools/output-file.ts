/**
 * The whole output of a command in a file that only its owner can read, up to a limit. Text that looks like a secret is replaced
 * before it is written, as in everything that Oxbow stores.
 */
import { closeSync, fstatSync, mkdirSync, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Utf8Stream } from "../base/utf8-stream.js";

const MAX_FILE_BYTES = 64 * 1024 * 1024;
const END_BYTES = 64 * 1024;

/** Removes secrets from text in pieces; it may hold back the end of a piece. */
export interface Redactor {
  push(piece: string): string;
  end(): string;
}

export interface OutputPlace {
  /** Created with the first file. */
  readonly directory: string;
  /** Without it the output is stored unchanged. */
  readonly createRedactor?: (() => Redactor) | undefined;
  /** Called when a file was created. */
  readonly onFile?: (() => void) | undefined;
}

export class OutputFile {
  readonly path: string;
  readonly #place: OutputPlace;
  readonly #limit: number;
  readonly #decoder = new Utf8Stream();
  #redactor: Redactor | undefined;
  #fd: number | undefined;
  #bytes = 0;
  #state: "new" | "open" | "full" | "failed" | "closed" = "new";
  #failure = "";

  constructor(place: OutputPlace, limit = MAX_FILE_BYTES) {
    this.#place = place;
    this.#limit = limit;
    const name = `command-${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}.log`;
    this.path = join(place.directory, name);
  }

  get started(): boolean {
    return this.#state !== "new";
  }

  /** Written at once, so at most one line waits in memory. */
  append(chunk: Uint8Array): void {
    if (this.#state === "new") this.#attempt(() => this.#open());
    if (this.#state === "open") this.#attempt(() => this.#write(this.#redacted(chunk)));
  }

  /** The last lines of what was written. */
  readEnd(): string {
    if (!this.started || this.#state === "failed") return "";
    const file = openSync(this.path, "r");
    try {
      const { size } = fstatSync(file);
      const end = Buffer.alloc(Math.min(size, END_BYTES));
      const text = end.toString("utf8", 0, readSync(file, end, 0, end.length, size - end.length));
      return size === end.length ? text : text.slice(text.indexOf("\n") + 1);
    } finally {
      closeSync(file);
    }
  }

  /** Finds where the output is, and the line that is shown no more, as a clause for a note. */
  describe(line = 1): string {
    if (this.#state === "failed") return `it could not be saved (${this.#failure})`;
    const part = this.#bytes < this.#limit ? "the whole output is" : `the first ${this.#bytes} bytes are`;
    return `${part} in ${this.path}; to go on, read it with offset ${line}`;
  }

  close(): void {
    if (this.#state === "open") this.#attempt(() => this.#write(this.#rest()));
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
    if (this.#state === "open" || this.#state === "new") this.#state = "closed";
  }

  #open(): void {
    const { directory, createRedactor, onFile } = this.#place;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    this.#redactor = createRedactor?.();
    this.#fd = openSync(this.path, "wx", 0o600);
    this.#state = "open";
    onFile?.();
  }

  #redacted(chunk: Uint8Array): string {
    const text = this.#decoder.push(chunk);
    return this.#redactor === undefined ? text : this.#redactor.push(text);
  }

  #rest(): string {
    const text = this.#decoder.end();
    return this.#redactor === undefined ? text : this.#redactor.push(text) + this.#redactor.end();
  }

  #write(text: string): void {
    if (this.#fd === undefined || text === "") return;
    const bytes = Buffer.from(text);
    const part = bytes.subarray(0, this.#limit - this.#bytes);
    for (let at = 0; at < part.length; ) at += writeSync(this.#fd, part, at);
    this.#bytes += part.length;
    if (part.length < bytes.length) this.#state = "full";
  }

  #attempt(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#state = "failed";
      this.#failure = (error as Error).message;
    }
  }
}
