/** Reads files for a search: small ones whole, large ones in pieces that end at line ends. */
import { constants, type FileHandle, open } from "node:fs/promises";

const PIECE_BYTES = 1024 * 1024;
const MAX_LINE_BYTES = 64 * 1024 * 1024;
/** A link is not followed, and a pipe that took a file's place does not block. */
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

export interface FirstPiece {
  readonly bytes: Buffer;
  /** This is the whole file. */
  readonly isWhole: boolean;
}

/** Undefined if the file cannot be read, or if it is not at `place`, a path without links. */
export type PieceReader = (path: string, place?: string) => FirstPiece | undefined;

/**
 * The reader is synchronous: a search reads thousands of small files, and four asynchronous calls for each would take most of its
 * time. It is loaded on demand, because few runs search without ripgrep.
 */
export async function createPieceReader(): Promise<PieceReader> {
  const { closeSync, fstatSync, openSync, readlinkSync, readSync, realpathSync } = await import("node:fs");
  const placeOf = (descriptor: number, path: string) =>
    process.platform === "linux" ? readlinkSync(`/proc/self/fd/${descriptor}`) : realpathSync.native(path);
  return (path, place) => {
    let descriptor: number | undefined;
    try {
      descriptor = openSync(path, FLAGS);
      const stat = fstatSync(descriptor);
      if (!stat.isFile()) return undefined;
      if (place !== undefined && placeOf(descriptor, path) !== place) return undefined;
      const buffer = Buffer.allocUnsafe(Math.min(stat.size, PIECE_BYTES) + 1);
      const length = readSync(descriptor, buffer, 0, buffer.length, 0);
      return { bytes: buffer.subarray(0, length), isWhole: length < buffer.length };
    } catch {
      return undefined;
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
    }
  };
}

export async function firstPieceOf(handle: FileHandle): Promise<FirstPiece> {
  const { size } = await handle.stat();
  const buffer = Buffer.allocUnsafe(Math.min(size, PIECE_BYTES) + 1);
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
  return { bytes: buffer.subarray(0, bytesRead), isWhole: bytesRead < buffer.length };
}

/** Undefined if the file cannot be read. */
export async function withRegularFile<T>(
  path: string,
  action: (handle: FileHandle) => Promise<T>,
): Promise<T | undefined> {
  const handle = await open(path, FLAGS).catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    return (await handle.stat()).isFile() ? await action(handle) : undefined;
  } finally {
    await handle.close();
  }
}

/**
 * Pieces end at line ends, with two exceptions: at the first NUL byte, because then the file is binary, and in a line that is too long
 * to search.
 */
export async function* linePieces(handle: FileHandle): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  for (let position = 0; ; ) {
    const buffer = Buffer.allocUnsafe(PIECE_BYTES);
    const { bytesRead } = await handle.read(buffer, 0, PIECE_BYTES, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    const piece = buffer.subarray(0, bytesRead);
    const isEnough = piece.includes(0) || restBytes + bytesRead > MAX_LINE_BYTES;
    const end = isEnough ? piece.length : piece.lastIndexOf(10) + 1;
    if (end > 0) {
      yield Buffer.concat([...rest, piece.subarray(0, end)]);
      rest = [];
      restBytes = 0;
    }
    if (end < piece.length) {
      rest.push(piece.subarray(end));
      restBytes += piece.length - end;
    }
  }
  if (rest.length > 0) yield Buffer.concat(rest);
}
