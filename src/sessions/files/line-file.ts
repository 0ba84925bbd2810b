/**
 * A file of lines that only grows.
 *
 * 1. A line counts only with its line feed. Text after the last one was cut by a crash and never acknowledged:
 *    readers do not see it, and the next writer cuts it off.
 * 2. A failed append leaves the file unchanged.
 * 3. Only the holder of the session's lock writes; readers need no lock.
 */
import { constants, type FileHandle, open } from "node:fs/promises";
import { StoreError } from "../store.js";
import { asStoreError, guarded, ifThere } from "./file-errors.js";

const READ_BYTES = 256 * 1024;
const TAIL_BYTES = 16 * 1024;
const PROBE_BYTES = 2 * 1024;
const LINE_FEED = 10;

export interface Line {
  /** The place where it begins. */
  readonly at: number;
  readonly text: string;
}

export class LineFile {
  readonly path: string;
  readonly inode: number;
  readonly #handle: FileHandle;
  #size: number;
  #end: number | undefined;

  private constructor(path: string, handle: FileHandle, found: { readonly ino: number; readonly size: number }) {
    this.path = path;
    this.inode = found.ino;
    this.#handle = handle;
    this.#size = found.size;
  }

  /** It is created with its session, so a missing file is damage. */
  static async open(path: string, mode: "read" | "append"): Promise<LineFile> {
    const file = await guarded(path, () => ifThere(() => LineFile.#open(path, mode)));
    if (file === undefined) throw new StoreError("damaged", `${path} is missing. Restore a copy of it.`);
    return file;
  }

  static async #open(path: string, mode: "read" | "append"): Promise<LineFile> {
    const flags = mode === "read" ? constants.O_RDONLY : constants.O_RDWR | constants.O_APPEND;
    const handle = await open(path, flags | (constants.O_NOFOLLOW ?? 0));
    try {
      return new LineFile(path, handle, await handle.stat());
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Bytes, the torn ones too. */
  get size(): number {
    return this.#size;
  }

  /** Finds where the last whole line ends. */
  async end(): Promise<number> {
    if (this.#end === undefined) {
      // The first piece from the end is the text after the last line feed: usually empty.
      for await (const { at } of this.#backwards(this.#size)) {
        this.#end = at;
        break;
      }
    }
    return this.#end ?? 0;
  }

  /** Takes over what `end` would find, when that is known. */
  trustEnd(end: number): void {
    this.#end = end;
  }

  /** From a place where a line begins, one chunk of lines at a time. */
  async *lines(from: number): AsyncGenerator<readonly Line[]> {
    const end = await this.end();
    let at = from;
    let rest: Buffer = Buffer.alloc(0);
    // Often only the first lines are needed.
    let step = TAIL_BYTES;
    for (let position = from; position < end; ) {
      const chunk = await this.#read(position, Math.min(Math.max(step, rest.length), end - position));
      step = Math.min(2 * step, READ_BYTES);
      if (chunk.length === 0) return;
      position += chunk.length;
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const lines: Line[] = [];
      let start = 0;
      for (let stop = bytes.indexOf(LINE_FEED); stop !== -1; stop = bytes.indexOf(LINE_FEED, start)) {
        lines.push({ at: at + start, text: bytes.toString("utf8", start, stop) });
        start = stop + 1;
      }
      rest = bytes.subarray(start);
      at += start;
      if (lines.length > 0) yield lines;
    }
  }

  /** The last line first. */
  async *linesFromEnd(): AsyncGenerator<Line> {
    const end = await this.end();
    if (end > 0) yield* this.#backwards(end - 1);
  }

  /** Finds where the first line begins that starts at or after a place; the end when there is none. */
  async lineStart(place: number): Promise<number> {
    const end = await this.end();
    if (place === 0) return 0;
    let step = PROBE_BYTES;
    for (let position = place - 1; position < end; step = Math.min(2 * step, READ_BYTES)) {
      const chunk = await this.#read(position, Math.min(step, end - position));
      const found = chunk.indexOf(LINE_FEED);
      if (found !== -1) return position + found + 1;
      if (chunk.length === 0) return end;
      position += chunk.length;
    }
    return end;
  }

  /** The first bytes of the line that begins there. */
  async peek(at: number, bytes: number): Promise<string> {
    return (await this.#read(at, Math.min(bytes, (await this.end()) - at))).toString("latin1");
  }

  async append(text: string): Promise<void> {
    const end = await this.end();
    const bytes = Buffer.from(text);
    try {
      if (this.#size > end) await this.#handle.truncate(end);
      await this.#handle.appendFile(bytes);
    } catch (error) {
      await this.#handle.truncate(end).catch(() => {});
      this.#size = end;
      throw asStoreError(error, this.path);
    }
    this.#size = this.#end = end + bytes.length;
  }

  /** Waits until everything is on the disk, also what another handle or process has written. */
  async sync(): Promise<void> {
    await guarded(this.path, () => this.#handle.datasync());
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  /** The pieces between line feeds before `end`, the last first. */
  async *#backwards(end: number): AsyncGenerator<Line> {
    let rest: Buffer = Buffer.alloc(0);
    // Usually only the end is needed.
    let step = TAIL_BYTES;
    for (let position = end; position > 0; ) {
      const length = Math.min(Math.max(step, rest.length), position);
      step = Math.min(2 * step, READ_BYTES);
      position -= length;
      let bytes = Buffer.concat([await this.#read(position, length), rest]);
      for (let found = bytes.lastIndexOf(LINE_FEED); found !== -1; found = bytes.lastIndexOf(LINE_FEED)) {
        yield { at: position + found + 1, text: bytes.toString("utf8", found + 1) };
        bytes = bytes.subarray(0, found);
      }
      rest = bytes;
    }
    yield { at: 0, text: rest.toString("utf8") };
  }

  async #read(position: number, length: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafe(length);
    let filled = 0;
    while (filled < length) {
      const { bytesRead } = await this.#handle.read(buffer, filled, length - filled, position + filled);
      // The file was cut while we read it; the rest has its own checks.
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return buffer.subarray(0, filled);
  }
}
