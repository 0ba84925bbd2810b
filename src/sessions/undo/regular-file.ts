/** Reading a regular file without following a link and without waiting for a pipe. */
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync, type Stats } from "node:fs";
import { fsPath, linkTarget } from "../../system/path-bytes.js";

const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

export interface RegularFile {
  readonly bytes: Buffer;
  /** From before the bytes were read. */
  readonly stat: Stats;
}

export interface ReadOptions {
  readonly limit: number;
  /** Where it must turn out to lie, for a path whose folders are not held. */
  readonly real?: string;
}

/** Undefined when it is not a regular file, larger than the limit, not where it must be, or cannot be read. */
export function readRegularFile(path: string, { limit, real }: ReadOptions): RegularFile | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(fsPath(path), FLAGS);
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size > limit) return undefined;
    if (real !== undefined && !isAt(fd, real)) return undefined;
    const bytes = readWhole(fd, { size: stat.size, limit });
    return bytes === undefined ? undefined : { bytes, stat };
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** A folder on the way may have become a link to elsewhere since it was looked at. */
function isAt(fd: number, real: string): boolean {
  if (process.platform === "linux") return linkTarget(`/proc/self/fd/${fd}`) === real;
  return realpathSync(fsPath(real)) === real;
}

/** It may grow or shrink meanwhile: what counts is where it ends. */
function readWhole(fd: number, { size, limit }: { size: number; limit: number }): Buffer | undefined {
  let bytes = Buffer.allocUnsafe(size + 1);
  let length = 0;
  for (;;) {
    const count = readSync(fd, bytes, length, bytes.length - length, length);
    length += count;
    if (length > limit) return undefined;
    if (count === 0) return bytes.subarray(0, length);
    if (length === bytes.length) bytes = Buffer.concat([bytes], length * 2);
  }
}
