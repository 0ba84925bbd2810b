/** Reading a regular file without following a link and without waiting for a pipe. */
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { fsPath } from "../../system/path-bytes.js";

const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

export interface RegularFile {
  readonly bytes: Buffer;
  /** From before the bytes were read. */
  readonly stat: Stats;
}

/** Undefined when it is not a regular file, larger than the limit, or cannot be read. */
export function readRegularFile(path: string, { limit }: { readonly limit: number }): RegularFile | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(fsPath(path), FLAGS);
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size > limit) return undefined;
    const bytes = readWhole(fd, { size: stat.size, limit });
    return bytes === undefined ? undefined : { bytes, stat };
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
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
