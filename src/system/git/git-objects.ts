/**
 * Reads objects of a repository without git: loose ones, and those in packs (version 2). The content of each is compared with its name, so a
 * file that was put there under a wrong one is not read. An unknown format, a damaged or a large object is `undefined`.
 */
import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import { plainFile } from "./plain-file.js";

export interface GitObject {
  readonly type: "commit" | "tree" | "blob" | "tag";
  readonly content: Buffer;
}

/** Of an object, before and after it is unpacked. */
const MOST_BYTES = 32 * 1024 * 1024;
const MOST_DELTAS = 4096;
const PACKED_TYPES = { 1: "commit", 2: "tree", 3: "blob", 4: "tag" } as const;
const OFFSET_DELTA = 6;
const REFERENCE_DELTA = 7;
const PACK_SIGNATURE = 0xff744f63;
const FANOUT_AT = 8;
const NAMES_AT = FANOUT_AT + 256 * 4;
const LARGE = 0x80000000;

export class GitObjects {
  readonly #folder: string;
  #packs: readonly Pack[] | undefined;

  /** `gitFolder`: the one with `objects` in it. */
  constructor(gitFolder: string) {
    this.#folder = join(gitFolder, "objects");
  }

  read(name: string): GitObject | undefined {
    try {
      const found = this.#loose(name) ?? this.#packed(name);
      return found !== undefined && nameOf(found, name.length) === name ? found : undefined;
    } catch {
      // It is damaged.
      return undefined;
    }
  }

  close(): void {
    for (const pack of this.#packs ?? []) pack.close();
    this.#packs = undefined;
  }

  #loose(name: string): GitObject | undefined {
    const bytes = plainFile(join(this.#folder, name.slice(0, 2), name.slice(2)), MOST_BYTES);
    if (!Buffer.isBuffer(bytes)) return undefined;
    const text = inflateSync(bytes, { maxOutputLength: MOST_BYTES });
    const end = text.indexOf(0);
    const [type = ""] = text.toString("latin1", 0, end).split(" ");
    return isType(type) ? { type, content: text.subarray(end + 1) } : undefined;
  }

  #packed(name: string): GitObject | undefined {
    this.#packs ??= packsIn(join(this.#folder, "pack"), name.length / 2);
    for (const pack of this.#packs) {
      const at = pack.find(name);
      if (at !== undefined) return pack.at(at);
    }
    return undefined;
  }
}

class Pack {
  readonly #index: OpenFile;
  readonly #pack: OpenFile;
  readonly #nameBytes: number;

  constructor(path: string, nameBytes: number) {
    this.#index = new OpenFile(`${path}.idx`);
    this.#pack = new OpenFile(`${path}.pack`);
    this.#nameBytes = nameBytes;
  }

  close(): void {
    this.#index.close();
    this.#pack.close();
  }

  /** Finds where the object begins in the pack. */
  find(name: string): number | undefined {
    const first = Number.parseInt(name.slice(0, 2), 16);
    const count = this.#count(255);
    let low = first === 0 ? 0 : this.#count(first - 1);
    let high = this.#count(first) - 1;
    const wanted = Buffer.from(name, "hex");
    while (low <= high) {
      const middle = (low + high) >> 1;
      const order = this.#index.read(NAMES_AT + middle * this.#nameBytes, this.#nameBytes).compare(wanted);
      if (order === 0) return this.#offset(middle, count);
      if (order < 0) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  }

  at(offset: number): GitObject | undefined {
    const deltas: Buffer[] = [];
    for (let place = offset; deltas.length < MOST_DELTAS; ) {
      const { kind, size, start } = this.#header(place);
      const type = PACKED_TYPES[kind as keyof typeof PACKED_TYPES];
      if (type !== undefined) {
        const content = deltas.reduceRight(withDelta, this.#inflated(start, size));
        return { type, content };
      }
      if (kind === REFERENCE_DELTA) {
        const base = this.find(this.#pack.read(start, this.#nameBytes).toString("hex"));
        if (base === undefined) return undefined;
        deltas.push(this.#inflated(start + this.#nameBytes, size));
        place = base;
      } else if (kind === OFFSET_DELTA) {
        const { value, next } = this.#distance(start);
        deltas.push(this.#inflated(next, size));
        place -= value;
      } else return undefined;
    }
    return undefined;
  }

  /** Counts how many objects have a name that begins with this byte or a lower one. */
  #count(byte: number): number {
    return this.#index.read(FANOUT_AT + byte * 4, 4).readUInt32BE();
  }

  #offset(index: number, count: number): number {
    const offsets = NAMES_AT + count * (this.#nameBytes + 4);
    const near = this.#index.read(offsets + index * 4, 4).readUInt32BE();
    if (near < LARGE) return near;
    return Number(this.#index.read(offsets + count * 4 + (near - LARGE) * 8, 8).readBigUInt64BE());
  }

  #header(offset: number): { readonly kind: number; readonly size: number; readonly start: number } {
    const bytes = this.#pack.read(offset, 16);
    let byte = bytes[0] ?? 0;
    const kind = (byte >> 4) & 7;
    let size = byte & 15;
    let at = 1;
    for (let shift = 4; (byte & 0x80) !== 0; shift += 7) {
      byte = bytes[at++] ?? 0;
      size += (byte & 0x7f) * 2 ** shift;
    }
    return { kind, size, start: offset + at };
  }

  #distance(start: number): { readonly value: number; readonly next: number } {
    const bytes = this.#pack.read(start, 16);
    let at = 0;
    let byte = bytes[at++] ?? 0;
    let value = byte & 0x7f;
    while ((byte & 0x80) !== 0) {
      byte = bytes[at++] ?? 0;
      value = (value + 1) * 128 + (byte & 0x7f);
    }
    return { value, next: start + at };
  }

  #inflated(start: number, size: number): Buffer {
    if (size > MOST_BYTES) throw new Error("The object is too large.");
    // What follows the object in the pack is left alone.
    const packed = this.#pack.read(start, size + (size >> 9) + 256);
    const content = inflateSync(packed, { maxOutputLength: Math.max(size, 1) });
    if (content.length !== size) throw new Error("The object is damaged.");
    return content;
  }
}

class OpenFile {
  readonly #descriptor: number;
  readonly #size: number;

  constructor(path: string) {
    this.#descriptor = openSync(path, "r");
    this.#size = fstatSync(this.#descriptor).size;
  }

  /** Fewer bytes at the end of the file. */
  read(at: number, length: number): Buffer {
    const buffer = Buffer.alloc(Math.max(0, Math.min(length, this.#size - at)));
    readSync(this.#descriptor, buffer, 0, buffer.length, at);
    return buffer;
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

function packsIn(folder: string, nameBytes: number): readonly Pack[] {
  let names: readonly string[];
  try {
    names = readdirSync(folder);
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    const path = join(folder, name.slice(0, -".idx".length));
    if (!name.endsWith(".idx") || !names.includes(`${name.slice(0, -".idx".length)}.pack`)) return [];
    const header = new OpenFile(`${path}.idx`);
    const start = header.read(0, 8);
    header.close();
    const isKnown = start.length === 8 && start.readUInt32BE() === PACK_SIGNATURE && start.readUInt32BE(4) === 2;
    return isKnown ? [new Pack(path, nameBytes)] : [];
  });
}

/** Copies parts of the base and inserts new bytes, as the delta says. */
function withDelta(base: Buffer, delta: Buffer): Buffer {
  let at = 0;
  const number = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = delta[at++] ?? 0;
      value += (byte & 0x7f) * 2 ** shift;
      if ((byte & 0x80) === 0) return value;
    }
  };
  const little = (bits: number, count: number) => {
    let value = 0;
    for (let index = 0; index < count; index++)
      if ((bits & (1 << index)) !== 0) value += (delta[at++] ?? 0) * 2 ** (8 * index);
    return value;
  };
  const from = number();
  const size = number();
  if (from !== base.length || size > MOST_BYTES) throw new Error("The object is damaged.");
  const parts: Buffer[] = [];
  while (at < delta.length) {
    const code = delta[at++] ?? 0;
    if ((code & 0x80) !== 0) {
      const offset = little(code & 15, 4);
      const length = little(code >> 4, 3) || 0x10000;
      parts.push(base.subarray(offset, offset + length));
    } else {
      parts.push(delta.subarray(at, at + code));
      at += code;
    }
  }
  return Buffer.concat(parts);
}

function nameOf({ type, content }: GitObject, length: number): string {
  const hash = createHash(length === 64 ? "sha256" : "sha1");
  return hash.update(`${type} ${content.length}\0`).update(content).digest("hex");
}

function isType(word: string): word is GitObject["type"] {
  return ["commit", "tree", "blob", "tag"].includes(word);
}
