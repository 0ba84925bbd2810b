/** Reads one file that an attacker may have prepared: no links, no pipes, a limited size. */
import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats } from "node:fs";
import type { ContentKind } from "./content.js";

/** The size that a user can review, and that is stored to show later changes. */
export const REVIEWABLE_BYTES = 256 * 1024;

const MAX_TEXT = 1024 * 1024;
/** Claude Code keeps its servers in one file with much else. */
const MAX_SERVERS = 16 * 1024 * 1024;
/** A compiled tool, a template of a skill. */
const MAX_BINARY = 128 * 1024 * 1024;
const TEXT_KINDS: ReadonlySet<ContentKind> = new Set([
  "event-hooks",
  "profile",
  "alias",
  "instructions",
  "prompt",
  "agent",
  "skill",
]);
const CHUNK = 64 * 1024;
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

export interface FileContent {
  readonly sha256: string;
  readonly size: number;
  readonly executable: boolean;
  /** It begins with `#!`. */
  readonly isScript: boolean;
  /** Absent when there are more than `keep` allows. */
  readonly bytes?: Buffer;
}

export interface Unreadable {
  /** Ends the sentence "PATH …". */
  readonly problem: string;
}

export function sizeLimit(kind: ContentKind): number {
  if (kind === "mcp") return MAX_SERVERS;
  return TEXT_KINDS.has(kind) ? MAX_TEXT : MAX_BINARY;
}

export interface ReadOptions {
  readonly limit: number;
  /** Says how many bytes to hold on to; the rest is only hashed. */
  readonly keep: number;
}

/** `path` must have no links. Its kind is checked before it is opened (opening a device may act) and after. */
export function readContent(path: string, options: ReadOptions): FileContent | Unreadable {
  let fd: number | undefined;
  try {
    const before = lstatSync(path);
    if (!before.isFile()) return { problem: notAFile(before) };
    fd = openSync(path, FLAGS);
    const stat = fstatSync(fd);
    if (!stat.isFile()) return { problem: notAFile(stat) };
    if (stat.size > options.limit) return { problem: tooLarge(options.limit) };
    return readToEnd(fd, stat, options);
  } catch (error) {
    return { problem: `cannot be read (${(error as NodeJS.ErrnoException).code ?? (error as Error).message})` };
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** The file may grow meanwhile: the hash is of the bytes that were read. */
function readToEnd(fd: number, stat: Stats, { limit, keep }: ReadOptions): FileContent | Unreadable {
  const hash = createHash("sha256");
  const kept: Buffer[] = [];
  let size = 0;
  let isScript = false;
  for (;;) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK, Math.max(stat.size - size, 0) + 1));
    const count = readSync(fd, chunk, 0, chunk.length, null);
    if (count === 0) break;
    if (size === 0) isScript = chunk[0] === 0x23 && chunk[1] === 0x21 && count > 1;
    size += count;
    if (size > limit) return { problem: tooLarge(limit) };
    const piece = chunk.subarray(0, count);
    hash.update(piece);
    if (size <= keep) kept.push(piece);
  }
  const executable = process.platform !== "win32" && (stat.mode & 0o111) !== 0;
  const content = { sha256: hash.digest("hex"), size, executable, isScript };
  return size <= keep ? { ...content, bytes: Buffer.concat(kept, size) } : content;
}

function notAFile(stat: Stats): string {
  if (stat.isDirectory()) return "is a folder, not a file";
  if (stat.isFIFO()) return "is a named pipe, not a file";
  if (stat.isSymbolicLink()) return "became a link while Oxbow read it";
  return "is not a regular file";
}

function tooLarge(limit: number): string {
  const megabytes = Math.floor(limit / 1024 / 1024);
  return megabytes > 0 ? `is larger than ${megabytes} MB` : "is one of too many large files";
}

const BINARY_PROBE = 8000;

/** A script stays text, even with bytes that would hide it. */
export function isBinary(bytes: Uint8Array): boolean {
  const isScript = bytes[0] === 0x23 && bytes[1] === 0x21;
  return !isScript && bytes.subarray(0, BINARY_PROBE).includes(0);
}

export function sha256(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}
