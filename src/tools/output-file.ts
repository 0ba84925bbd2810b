/** The whole output of a command in a file that only its owner can read, up to a limit. */
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";

const MAX_FILE_BYTES = 64 * 1024 * 1024;

export class OutputFile {
  readonly path: string;
  readonly #directory: string;
  readonly #limit: number;
  #fd: number | undefined;
  #bytes = 0;
  #state: "new" | "open" | "full" | "failed" | "closed" = "new";
  #failure = "";

  constructor(directory: string, limit = MAX_FILE_BYTES) {
    this.#directory = directory;
    this.#limit = limit;
    this.path = join(directory, `command-${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}.log`);
  }

  get started(): boolean {
    return this.#state !== "new";
  }

  /** Written at once: a command can never get ahead of its own record, and nothing waits in memory. */
  append(chunk: Uint8Array): void {
    if (this.#state === "new") this.#attempt(() => this.#open());
    if (this.#state !== "open") return;
    const part = chunk.subarray(0, this.#limit - this.#bytes);
    this.#attempt(() => this.#write(part));
    if (part.length < chunk.length && this.#state === "open") this.#state = "full";
  }

  /** Where the output is to be found, as a clause for a note. */
  describe(): string {
    if (this.#state === "failed") return `it could not be saved (${this.#failure})`;
    const part = this.#bytes < this.#limit ? "the whole output is" : `the first ${this.#bytes} bytes are`;
    return `${part} in ${this.path}`;
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
    if (this.#state === "open" || this.#state === "new") this.#state = "closed";
  }

  #open(): void {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    this.#fd = openSync(this.path, "wx", 0o600);
    this.#state = "open";
  }

  #write(chunk: Uint8Array): void {
    if (this.#fd === undefined) return;
    for (let at = 0; at < chunk.length; ) at += writeSync(this.#fd, chunk, at);
    this.#bytes += chunk.length;
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
