/**
 * Reads a file that the user names on the command line or in settings.
 *
 * 1. A pipe is as good as a file: `<(…)`, `/dev/stdin`, a named pipe with a writer.
 * 2. A named pipe that no program writes to is an error. Opening it as usual would wait forever, and a process with such a wait cannot end.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, realpathSync } from "node:fs";

const AT_ONCE = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
/** A program that waits for a reader opens its end after this one. */
const WRITER_MS = 2000;
const PAUSE_MS = 10;
const PIECE_BYTES = 64 * 1024;

export interface GivenFileOptions {
  /** Says how long to wait for a writer of a named pipe. */
  readonly writerMs?: number;
  /** Reading stops a little after so many bytes. */
  readonly most?: number;
}

export async function readGivenFile(path: string, options: GivenFileOptions = {}): Promise<Buffer> {
  const steps = readSteps(path, options);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

export function readGivenFileSync(path: string, options: GivenFileOptions = {}): Buffer {
  const steps = readSteps(path, options);
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    Atomics.wait(nothing, 0, 0, PAUSE_MS);
  }
}

/** Yields when there is nothing to read yet. */
function* readSteps(path: string, options: GivenFileOptions): Generator<undefined, Buffer> {
  const descriptor = openSync(path, AT_ONCE);
  try {
    const found = fstatSync(descriptor);
    const { most = Number.POSITIVE_INFINITY } = options;
    return found.isFile() && found.size <= most
      ? readFileSync(descriptor)
      : yield* readPieces(path, descriptor, options);
  } finally {
    closeSync(descriptor);
  }
}

function* readPieces(
  path: string,
  descriptor: number,
  { writerMs = WRITER_MS, most = Number.POSITIVE_INFINITY }: GivenFileOptions,
): Generator<undefined, Buffer> {
  const pieces: Buffer[] = [];
  const waitsForWriter = fstatSync(descriptor).isFIFO() && isNamed(path);
  const begin = performance.now();
  let hasWriter = false;
  let length = 0;
  while (length <= most) {
    const piece = readPiece(descriptor);
    if (piece !== "nothing yet" && piece.length > 0) {
      pieces.push(piece);
      length += piece.length;
      continue;
    }
    hasWriter ||= piece === "nothing yet";
    if (piece !== "nothing yet" && (hasWriter || length > 0 || !waitsForWriter)) break;
    if (!hasWriter && performance.now() - begin > writerMs)
      throw Object.assign(new Error(`${path} is a named pipe, and no program writes to it.`), { code: "EPIPE" });
    yield;
  }
  return Buffer.concat(pieces);
}

function readPiece(descriptor: number): Buffer | "nothing yet" {
  const piece = Buffer.alloc(PIECE_BYTES);
  try {
    return piece.subarray(0, readSync(descriptor, piece));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EAGAIN") return "nothing yet";
    throw error;
  }
}

/** A pipe of a shell has a descriptor, and no name. */
function isNamed(path: string): boolean {
  try {
    realpathSync.native(path);
    return true;
  } catch {
    return false;
  }
}
