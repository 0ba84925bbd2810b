/**
 * Reads the safety-relevant parts of git's index: the repositories in it (submodules), which git enters automatically, and whether
 * the reader understood all of it. It does not understand an index in another format, one in several files, or one with an unknown
 * required part.
 */
import { plainFile } from "./plain-file.js";

export interface IndexContent {
  /** Paths from the top of the work tree, with `/`. */
  readonly repositories: readonly string[];
  /** The names of its further parts: `TREE`, `UNTR`, `link`. */
  readonly extensions: readonly string[];
}

/** A file in the index, with what git noted of it when it last compared it. */
export interface IndexEntry {
  /** From the top of the work tree, with `/`. */
  readonly path: string;
  readonly hash: string;
  /** A file that git compares with the work tree: one of a sparse checkout may be absent there. */
  readonly isCompared: boolean;
  readonly size: number;
  readonly seconds: number;
  /** 0 where git does not note them. */
  readonly nanoseconds: number;
}

const MAX_BYTES = 256 * 1024 * 1024;
const HEADER_BYTES = 12;
const STAT_BYTES = 40;
const SECONDS_AT = 8;
const NANOSECONDS_AT = 12;
const MODE_AT = 24;
const SIZE_AT = 36;
const FILE_MODE = 0x8000;
const REPOSITORY_MODE = 0xe000;
/** The last one is a folder of a sparse index, which represents all its files. */
const KNOWN_MODES = new Set([FILE_MODE, 0xa000, REPOSITORY_MODE, 0x4000]);
const ASSUME_VALID = 0x8000;
const EXTENDED = 0x4000;
/** In the second flags. */
const SKIP_WORKTREE = 0x4000;
/** The length of a path that is too long for its field. */
const LONG_PATH = 0xfff;
const HASH_SIZES = [20, 32];
/** With these the entries are complete; `FSMN` only lists files that need no check. */
const KNOWN_EXTENSIONS = new Set(["TREE", "REUC", "UNTR", "FSMN", "EOIE", "IEOT"]);

/** Undefined if it is not understood. A missing index is empty. */
export function readIndexFile(path: string): IndexContent | undefined {
  const bytes = plainFile(path, MAX_BYTES);
  if (bytes === "missing") return { repositories: [], extensions: [] };
  return bytes === undefined ? undefined : parseIndex(bytes);
}

/** The hash of each file in an index, by its path from the top of the work tree. Undefined if the index is incomplete. */
export function readIndexHashes(path: string): ReadonlyMap<string, string> | undefined {
  const entries = readIndexEntries(path, MAX_BYTES);
  return entries && new Map(entries.map((entry) => [entry.path, entry.hash]));
}

/** Undefined if the index is missing, larger or incomplete. */
export function readIndexEntries(path: string, maxBytes: number): readonly IndexEntry[] | undefined {
  const bytes = plainFile(path, maxBytes);
  if (!Buffer.isBuffer(bytes)) return undefined;
  for (const hashSize of HASH_SIZES) {
    const entries: IndexEntry[] = [];
    const content = new Reader(bytes, hashSize).read((entry) => entries.push(entry));
    if (content !== undefined) return isWhole(content) ? entries : undefined;
  }
  return undefined;
}

/** The paths in an index, from the top of the work tree. Undefined if the index is incomplete. */
export function readIndexPaths(path: string): ReadonlySet<string> | undefined {
  const hashes = readIndexHashes(path);
  return hashes && new Set(hashes.keys());
}

/** The configuration decides which kind of hash git expects. A file that can be read both ways has what both find. */
export function parseIndex(bytes: Buffer): IndexContent | undefined {
  const contents = HASH_SIZES.flatMap((hashSize) => new Reader(bytes, hashSize).read() ?? []);
  if (contents.length === 0) return undefined;
  return {
    repositories: contents.flatMap(({ repositories }) => repositories),
    extensions: contents.flatMap(({ extensions }) => extensions),
  };
}

/** Tells whether its entries are complete. */
export function isWhole({ extensions }: IndexContent): boolean {
  return extensions.every((name) => KNOWN_EXTENSIONS.has(name));
}

class Reader {
  readonly #bytes: Buffer;
  readonly #hashSize: number;
  readonly #end: number;
  #version = 0;
  #position = HEADER_BYTES;
  #path: Buffer = Buffer.alloc(0);

  constructor(bytes: Buffer, hashSize: number) {
    this.#bytes = bytes;
    this.#hashSize = hashSize;
    this.#end = bytes.length - hashSize;
  }

  read(visit?: (entry: IndexEntry) => void): IndexContent | undefined {
    if (this.#end < HEADER_BYTES || this.#bytes.toString("latin1", 0, 4) !== "DIRC") return undefined;
    this.#version = this.#bytes.readUInt32BE(4);
    if (this.#version < 2 || this.#version > 4) return undefined;
    const repositories: string[] = [];
    for (let left = this.#bytes.readUInt32BE(8); left > 0; left--) {
      const start = this.#position;
      const mode = this.#entry();
      if (mode === undefined) return undefined;
      visit?.(this.#found(start, mode));
      if (mode !== REPOSITORY_MODE) continue;
      const path = this.#path.toString("utf8");
      if (path.includes("\ufffd")) return undefined;
      repositories.push(path);
    }
    const extensions = this.#extensions();
    return extensions && { repositories, extensions };
  }

  #found(start: number, mode: number): IndexEntry {
    const hashAt = start + STAT_BYTES;
    const flagsAt = hashAt + this.#hashSize;
    const flags = this.#bytes.readUInt16BE(flagsAt);
    const isAbsent = (flags & EXTENDED) !== 0 && (this.#bytes.readUInt16BE(flagsAt + 2) & SKIP_WORKTREE) !== 0;
    return {
      path: this.#path.toString("utf8"),
      hash: this.#bytes.toString("hex", hashAt, hashAt + this.#hashSize),
      isCompared: mode === FILE_MODE && (flags & ASSUME_VALID) === 0 && !isAbsent,
      size: this.#bytes.readUInt32BE(start + SIZE_AT),
      seconds: this.#bytes.readUInt32BE(start + SECONDS_AT),
      nanoseconds: this.#bytes.readUInt32BE(start + NANOSECONDS_AT),
    };
  }

  /** The mode of the entry, whose path is `#path` then. */
  #entry(): number | undefined {
    const start = this.#position;
    const flagsAt = start + STAT_BYTES + this.#hashSize;
    if (flagsAt + 2 > this.#end) return undefined;
    const mode = this.#bytes.readUInt32BE(start + MODE_AT) & 0xf000;
    const flags = this.#bytes.readUInt16BE(flagsAt);
    const isExtended = (flags & EXTENDED) !== 0;
    if (isExtended && this.#version < 3) return undefined;
    this.#position = flagsAt + (isExtended ? 4 : 2);
    if (!KNOWN_MODES.has(mode) || !this.#readPath()) return undefined;
    // Git ends a path at this length, and only a longer one at its NUL.
    const nameLength = flags & LONG_PATH;
    if (nameLength === LONG_PATH ? this.#path.length < LONG_PATH : this.#path.length !== nameLength) return undefined;
    // In the older formats one to eight NULs follow, up to a multiple of eight.
    if (this.#version < 4) this.#position = start + (((this.#position - start + 8) >> 3) << 3);
    else this.#position += 1;
    return this.#position <= this.#end ? mode : undefined;
  }

  #readPath(): boolean {
    const kept = this.#version === 4 ? this.#keptLength() : 0;
    const nul = this.#bytes.indexOf(0, this.#position);
    if (kept === undefined || nul < 0 || nul >= this.#end) return false;
    const rest = this.#bytes.subarray(this.#position, nul);
    this.#path = kept === 0 ? rest : Buffer.concat([this.#path.subarray(0, kept), rest]);
    this.#position = nul;
    return true;
  }

  /** The path reuses the beginning of the one before, minus a number of bytes at its end. */
  #keptLength(): number | undefined {
    let cut = 0;
    for (let count = 0; count < 5; count++) {
      const byte = this.#bytes[this.#position++];
      if (byte === undefined) return undefined;
      cut = count === 0 ? byte & 0x7f : ((cut + 1) << 7) | (byte & 0x7f);
      if ((byte & 0x80) === 0) return cut <= this.#path.length ? this.#path.length - cut : undefined;
    }
    return undefined;
  }

  #extensions(): readonly string[] | undefined {
    const names: string[] = [];
    while (this.#position < this.#end) {
      if (this.#position + 8 > this.#end) return undefined;
      names.push(this.#bytes.toString("latin1", this.#position, this.#position + 4));
      this.#position += 8 + this.#bytes.readUInt32BE(this.#position + 4);
    }
    return this.#position === this.#end ? names : undefined;
  }
}
