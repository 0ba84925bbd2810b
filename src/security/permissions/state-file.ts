/**
 * A small JSON file with the user's settings from commands.
 *
 * 1. It is replaced whole; a reader never sees half of it. Changes made through one object follow one another.
 * 2. An unreadable file is an error with advice, never the default: otherwise its denials would silently disappear.
 */
import { mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { writeFileAtomic } from "../../system/atomic-file.js";

export interface StateFormat<T> {
  /** Holds what a missing file means. */
  readonly initial: T;
  /** Throws an Error that says what was expected. */
  decode(value: unknown): T;
  encode(state: T): unknown;
}

/** The message names the file and says what to do. */
export class StateFileError extends Error {
  override readonly name = "StateFileError";
}

export interface StateFileOptions {
  /** Written into the file, for people who look at it. */
  readonly workspace?: string;
  /** The file that counts as long as this one does not exist. */
  readonly fallback?: string;
}

export class StateFile<T> {
  readonly path: string;
  readonly #format: StateFormat<T>;
  readonly #options: StateFileOptions;
  #state: T | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(path: string, format: StateFormat<T>, options: StateFileOptions = {}) {
    this.path = path;
    this.#format = format;
    this.#options = options;
  }

  /** Tells what was loaded or written last; `load` must have been called. */
  get current(): T {
    if (this.#state === undefined) throw new TypeError(`${this.path} was not loaded`);
    return this.#state;
  }

  /** Reads the file, also again: another process may have changed it. */
  async load(): Promise<T> {
    const { fallback } = this.#options;
    const text = await readIfThere(this.path);
    if (text !== undefined || fallback === undefined) this.#state = this.#decode(text, this.path);
    else this.#state = this.#decode(await readIfThere(fallback), fallback);
    return this.#state;
  }

  /** Replaces the file with the result of `change` on its current state, which may come from another process. */
  update(change: (state: T) => T): Promise<T> {
    const result = this.#last.then(async () => {
      const next = change(await this.load());
      await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
      const { workspace } = this.#options;
      const head = { schema_version: 1, ...(workspace !== undefined && { workspace }) };
      const text = `${JSON.stringify({ ...head, ...(this.#format.encode(next) as object) }, null, 2)}\n`;
      await writeFileAtomic(this.path, text, { mode: 0o600, flush: "file-and-folder" });
      this.#state = next;
      return next;
    });
    this.#last = result.catch(() => {});
    return result;
  }

  #decode(text: string | undefined, path: string): T {
    if (text === undefined) return this.#format.initial;
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value !== "object" || value === null) throw new Error("it is not an object");
      const { schema_version } = value as { schema_version?: unknown };
      if (schema_version !== 1) throw new Error(`schema_version is ${String(schema_version)}, this program knows 1`);
      return this.#format.decode(value);
    } catch (error) {
      const advice = "Repair it, or remove it to start with the defaults.";
      throw new StateFileError(`${path} is damaged: ${(error as Error).message}. ${advice}`, { cause: error });
    }
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new StateFileError(`Oxbow cannot read ${path}: ${(error as Error).message}`, { cause: error });
  }
}
