/**
 * The file behind an undo journal.
 *
 * 1. It begins with MAGIC and a salt. Frames follow: the length of the sealed bytes (4 bytes, little endian), the kind
 *    (1 byte), the sealed bytes. The sealed content begins with a byte for its encoding: 0 plain, 1 brotli.
 * 2. Frames are only ever added, each by one write, by the holder of the lock (journal.ts). A frame holds some records,
 *    as one JSON array, or contents.
 * 3. A file that ends in the middle of a frame, or with one that does not open, was cut short by a crash: what is left of
 *    that frame is cut away before the next one is written. A frame that does not open anywhere else is damage.
 * 4. Records are read when the file is; contents only on request.
 */

import { randomBytes } from "node:crypto";
import { closeSync, constants, fdatasync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from "node:fs";
import { promisify } from "node:util";
import { brotliCompress, brotliCompressSync, brotliDecompressSync, constants as zlibConstants } from "node:zlib";
import { StoreError } from "../store.js";
import type { UndoRecord } from "./records.js";
import { SALT_BYTES, SEAL_BYTES, Sealer } from "./sealer.js";

const MAGIC = Buffer.from("oxundo1\n");
const FILE_HEADER_BYTES = MAGIC.length + SALT_BYTES;
const FRAME_HEADER_BYTES = 5;
const RECORDS = 1;
const CONTENTS = 2;
/** Setting a compressor up costs more than the few bytes it would save. */
const WORTH_PACKING = 256;
/** Below this size another thread is not worth it. */
const WORTH_A_THREAD = 64 * 1024;
/** Time counts here, not the last byte: a command waits for it. Twice as fast as the fastest deflate, and no larger. */
const PACKING = { params: { [zlibConstants.BROTLI_PARAM_QUALITY]: 1 } };
/** No honest frame is larger; keeps a damaged one from filling the memory. */
const MAX_UNPACKED = 256 * 1024 * 1024;

const packAside = promisify<Uint8Array, typeof PACKING, Buffer>(brotliCompress);
const syncData = promisify(fdatasync);

export interface JournalFileOptions {
  readonly key: Uint8Array;
  readonly session: string;
  /** `append` makes the file when there is none; needs the lock. */
  readonly access: "read" | "append";
}

export class JournalFile {
  readonly #path: string;
  readonly #fd: number;
  readonly #sealer: Sealer;
  #end: number;
  /** Bytes after the end are the rest of an unfinished frame. */
  #isTorn = false;

  private constructor(options: { path: string; fd: number; sealer: Sealer }) {
    this.#path = options.path;
    this.#fd = options.fd;
    this.#sealer = options.sealer;
    this.#end = FILE_HEADER_BYTES;
  }

  /** Undefined when there is nothing to read. */
  static open(path: string, { key, session, access }: JournalFileOptions): JournalFile | undefined {
    const fd = openFile(path, access);
    if (fd === undefined) return undefined;
    try {
      const salt = readSalt(fd, path) ?? (access === "append" ? begin(fd) : undefined);
      if (salt !== undefined) return new JournalFile({ path, fd, sealer: new Sealer(key, salt, session) });
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    closeSync(fd);
    return undefined;
  }

  /** Up to where it has been read or written. */
  get end(): number {
    return this.#end;
  }

  /** False when the file was removed under us: what is written now would go with it. */
  get isThere(): boolean {
    return fstatSync(this.#fd).nlink > 0;
  }

  address(content: Uint8Array): string {
    return this.#sealer.address(content);
  }

  /** The records that were added since the last call. */
  read(): readonly UndoRecord[] {
    const { size } = fstatSync(this.#fd);
    const records: UndoRecord[] = [];
    while (this.#end < size) {
      const frame = this.#frameAt(this.#end, size);
      if (frame === undefined) break;
      const next = this.#end + FRAME_HEADER_BYTES + frame.length;
      if (frame.kind === RECORDS) {
        const plain = this.#open(this.#end, frame);
        if (plain === undefined && next < size) throw this.#unreadable(records.length === 0);
        if (plain === undefined) break;
        records.push(...(JSON.parse(plain.toString()) as readonly UndoRecord[]));
      }
      this.#end = next;
    }
    this.#isTorn = this.#end < size;
    return records;
  }

  /** Writes all of them or none. `read` must have reached the end before, while no other process could write. */
  append(records: readonly UndoRecord[]): void {
    this.#write(RECORDS, encode(Buffer.from(JSON.stringify(records))));
  }

  /** Where they lie, for `contents`. */
  async appendContents(bytes: Uint8Array): Promise<number> {
    const isLarge = bytes.length >= WORTH_A_THREAD;
    const body = isLarge ? await packAside(bytes, PACKING) : brotliCompressSync(bytes, PACKING);
    const position = this.#end;
    this.#write(CONTENTS, body.length < bytes.length ? [1, body] : [0, bytes]);
    return position;
  }

  /** Undefined when they are damaged. */
  contents(position: number): Buffer | undefined {
    const frame = this.#frameAt(position, fstatSync(this.#fd).size);
    return frame?.kind === CONTENTS ? this.#open(position, frame) : undefined;
  }

  /** Waits until all of it is on the disk. */
  async sync(): Promise<void> {
    await syncData(this.#fd);
  }

  close(): void {
    closeSync(this.#fd);
  }

  #frameAt(position: number, size: number): { readonly kind: number; readonly length: number } | undefined {
    const header = Buffer.alloc(FRAME_HEADER_BYTES);
    if (readSync(this.#fd, header, 0, FRAME_HEADER_BYTES, position) < FRAME_HEADER_BYTES) return undefined;
    const length = header.readUInt32LE(0);
    if (length <= SEAL_BYTES || position + FRAME_HEADER_BYTES + length > size) return undefined;
    return { kind: header.readUInt8(4), length };
  }

  #open(position: number, { kind, length }: { readonly kind: number; readonly length: number }): Buffer | undefined {
    const sealed = Buffer.allocUnsafe(length);
    if (readSync(this.#fd, sealed, 0, length, position + FRAME_HEADER_BYTES) < length) return undefined;
    const plain = this.#sealer.open(sealed, { position, kind });
    if (plain === undefined) return undefined;
    const body = plain.subarray(1);
    return plain[0] === 1 ? brotliDecompressSync(body, { maxOutputLength: MAX_UNPACKED }) : body;
  }

  #write(kind: number, [encoding, body]: Encoded): void {
    const position = this.#end;
    const sealed = this.#sealer.seal(Buffer.concat([Buffer.of(encoding), body]), { position, kind });
    const header = Buffer.alloc(FRAME_HEADER_BYTES);
    header.writeUInt32LE(sealed.length, 0);
    header.writeUInt8(kind, 4);
    const frame = Buffer.concat([header, sealed]);
    try {
      if (this.#isTorn) ftruncateSync(this.#fd, position);
      this.#isTorn = false;
      writeWhole(this.#fd, frame, position);
    } catch (error) {
      this.#isTorn = true;
      throw storeError(error, this.#path);
    }
    this.#end += frame.length;
  }

  #unreadable(isFirst: boolean): StoreError {
    return isFirst && this.#end === FILE_HEADER_BYTES
      ? new StoreError("wrong-key", `${this.#path} was written with another key, or its beginning is damaged.`)
      : new StoreError("damaged", `${this.#path} is damaged at byte ${this.#end}: Oxbow cannot undo those changes.`);
  }
}

type Encoded = readonly [encoding: 0 | 1, body: Uint8Array];

function encode(bytes: Buffer): Encoded {
  return bytes.length < WORTH_PACKING ? [0, bytes] : [1, brotliCompressSync(bytes, PACKING)];
}

function openFile(path: string, access: "read" | "append"): number | undefined {
  const flags = constants.O_RDWR | (constants.O_NOFOLLOW ?? 0);
  try {
    return openSync(path, access === "append" ? flags | constants.O_CREAT : flags, 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (access === "read" && code === "ENOENT") return undefined;
    if (access === "read" && (code === "EACCES" || code === "EROFS")) return openSync(path, constants.O_RDONLY);
    throw storeError(error, path);
  }
}

/** Undefined for a file whose making was cut short. */
function readSalt(fd: number, path: string): Buffer | undefined {
  const header = Buffer.alloc(FILE_HEADER_BYTES);
  const length = readSync(fd, header, 0, FILE_HEADER_BYTES, 0);
  if (!header.subarray(0, Math.min(length, MAGIC.length)).equals(MAGIC.subarray(0, length))) {
    throw new StoreError("incompatible", `${path} is not an undo journal, or one of a newer version.`);
  }
  return length < FILE_HEADER_BYTES ? undefined : header.subarray(MAGIC.length);
}

function begin(fd: number): Buffer {
  const salt = randomBytes(SALT_BYTES);
  ftruncateSync(fd, 0);
  writeWhole(fd, Buffer.concat([MAGIC, salt]), 0);
  return salt;
}

function writeWhole(fd: number, bytes: Buffer, position: number): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done, position + done);
}

export function storeError(error: unknown, path: string): StoreError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOSPC" || code === "EDQUOT") {
    return new StoreError("full", `Oxbow cannot write ${path}: the disk is full.`, { cause: error });
  }
  return new StoreError("unavailable", `Oxbow cannot use ${path}: ${message}.`, { cause: error });
}
