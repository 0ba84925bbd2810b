/** Reading files for a search: in one go when they are small, in pieces that end at line ends when they are not. */
import { constants, type FileHandle, open } from "node:fs/promises";

const PIECE_BYTES = 1024 * 1024;
/** A link is not followed, and a pipe that took a file's place does not block. */
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

export interface FirstPiece {
  readonly bytes: Buffer;
  /** There is no more than this. */
  readonly isWhole: boolean;
}

/** Undefined for what cannot be read. */
export type PieceReader = (path: string) => FirstPiece | undefined;

/**
 * The reader waits for the disk instead of letting others run: a search reads thousands of small files, and handing each of
 * four calls to another thread would take most of its time. Loaded when needed, because few runs search without ripgrep.
 */
export async function createPieceReader(): Promise<PieceReader> {
  const { closeSync, fstatSync, openSync, readSync } = await import("node:fs");
  return (path) => {
    let descriptor: number | undefined;
    try {
      descriptor = openSync(path, FLAGS);
      const stat = fstatSync(descriptor);
      if (!stat.isFile()) return undefined;
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

/** Undefined for what cannot be read. */
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

export async function* linePieces(handle: FileHandle): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for (let position = 0; ; ) {
    const buffer = Buffer.allocUnsafe(PIECE_BYTES);
    const { bytesRead } = await handle.read(buffer, 0, PIECE_BYTES, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    const whole = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
    const end = whole.lastIndexOf(10) + 1;
    if (end > 0) yield whole.subarray(0, end);
    rest = whole.subarray(end);
  }
  if (rest.length > 0) yield rest;
}
