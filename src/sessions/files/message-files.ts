/** The files in `messages/` of one session: their names, how they are read and how they are written. */
import { closeSync, constants, openSync, readFileSync } from "node:fs";
import { mkdir, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "../../system/atomic-file.js";
import { StoreError } from "../store.js";
import { asStoreError, errnoOf, guarded } from "./file-errors.js";
import { type MessageEntry, parseMessage, parseMessageFileName } from "./message-file.js";

export interface FoundFile {
  readonly name: string;
  readonly seq: number;
  readonly bytes: Buffer;
}

const LEFTOVER = /^\.\d+-[a-z_]+\.md\.[0-9a-f]+\.tmp$/;
/** After this many files, other work gets a turn. */
const READ_AT_ONCE = 100;

export class MessageFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Every message file in order. */
  async readAll(): Promise<readonly FoundFile[]> {
    const found: FoundFile[] = [];
    for (const [i, name] of (await this.names()).entries()) {
      if (i % READ_AT_ONCE === READ_AT_ONCE - 1) await new Promise<void>((resolve) => setImmediate(resolve));
      const bytes = this.read(name);
      if (bytes !== undefined) found.push({ name, seq: seqOf(name), bytes });
    }
    return found.sort((a, b) => a.seq - b.seq || (a.name < b.name ? -1 : 1));
  }

  /** The names of the message files; leftovers of a crash are removed. */
  async names(): Promise<string[]> {
    const folder = this.#folder;
    try {
      const all = await readdir(folder);
      for (const name of all) if (LEFTOVER.test(name)) await unlink(join(folder, name));
      return all.filter((name) => parseMessageFileName(name) !== undefined);
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return [];
      throw error;
    }
  }

  /**
   * Not through a link: it could lead to another file. Synchronous, as a process begins by reading all of
   * these small files, and the detour over the thread pool costs six times as much as the reading.
   */
  read(name: string): Buffer | undefined {
    const path = join(this.#folder, name);
    try {
      const file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
      try {
        return readFileSync(file);
      } finally {
        closeSync(file);
      }
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return undefined;
      throw asStoreError(error, path);
    }
  }

  parse({ name, bytes }: FoundFile): MessageEntry {
    const path = join(this.#folder, name);
    let text: string;
    try {
      text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      throw new StoreError("invalid", `${path} is not UTF-8 text. Save it as UTF-8, or delete it.`);
    }
    return parseMessage(text, path);
  }

  async remove(name: string): Promise<void> {
    await unlink(join(this.#folder, name)).catch(() => {});
  }

  async put(name: string, text: string, when: "create" | "replace"): Promise<void> {
    const path = join(this.#folder, name);
    const write = () => writeFileAtomic(path, text, { mode: 0o600, when });
    await guarded(path, async () => {
      try {
        await write();
      } catch (error) {
        if (errnoOf(error) !== "ENOENT") throw error;
        // The user has removed the folder; if the session is gone, this fails too.
        await mkdir(this.#folder, { mode: 0o700 }).catch((failure: unknown) => {
          if (errnoOf(failure) !== "EEXIST") throw failure;
        });
        await write();
      }
    });
  }
}

export function seqOf(file: string): number {
  return parseMessageFileName(file)?.seq ?? 0;
}
