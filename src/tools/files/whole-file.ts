/** Reads and replaces whole files. */
import { type FileHandle, lstat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeFileAtomic } from "../../system/atomic-file.js";
import { recordTemporaryFile } from "../../system/temporary-entries.js";
import type { FileStat } from "./file-stat.js";
import { openRegularFile } from "./held-directory.js";
import type { ResolvedPath } from "./path-resolver.js";
import { printable } from "./printable.js";
import { stampOf, versionOf } from "./read-files.js";
import { looksBinary } from "./text-file.js";
import { errnoOf, WorkspaceError, withWorkspaceErrors } from "./workspace-error.js";

/** The largest text that is held in memory. */
export const MAX_TEXT_BYTES = 32 * 1024 * 1024;

/** A file's content on disk at the moment of a write. */
export interface ExistingFile {
  readonly bytes: Buffer;
  readonly mode: number;
  readonly owner: { readonly uid: number; readonly gid: number };
  readonly version: string;
  readonly stamp: string;
}

/** `at` is the path to open the file; it must be at `place`. Undefined if nothing is there. */
export async function readExisting(at: string, place: ResolvedPath): Promise<ExistingFile | undefined> {
  const shown = printable(place.display);
  return withWorkspaceErrors(shown, async () => {
    if (!(await isThere(at))) return undefined;
    const handle = await openRegularFile(at, shown, place.absolute);
    try {
      const stat = await handle.stat({ bigint: true });
      if (stat.size > MAX_TEXT_BYTES) throw tooLarge(shown, Number(stat.size));
      const bytes = await readUpTo(handle, MAX_TEXT_BYTES);
      const mode = Number(stat.mode & 0o7777n);
      const owner = { uid: Number(stat.uid), gid: Number(stat.gid) };
      return { bytes, mode, owner, version: await versionOf(bytes), stamp: stampOf(stat) };
    } finally {
      await handle.close();
    }
  });
}

export interface Replacement {
  /** The path of the file, which stays valid after this process ends. */
  readonly absolute: string;
  /** Its mode and owner are kept. */
  readonly existing: ExistingFile | undefined;
  /** The mode of a new file. */
  readonly mode: number | undefined;
}

export async function replaceFile(at: string, bytes: Buffer, { absolute, existing, mode }: Replacement): Promise<void> {
  const note = (name: string) => recordTemporaryFile(join(dirname(absolute), name));
  if (existing !== undefined) return writeFileAtomic(at, bytes, { mode: existing.mode, owner: existing.owner, note });
  return writeFileAtomic(at, bytes, { when: "create", note, ...(mode === undefined ? {} : { mode }) });
}

/** All bytes of a text file; refuses binary and too large files. */
export async function readTextBytes(handle: FileHandle, file: FileStat): Promise<Buffer> {
  const shown = printable(file.path.display);
  if (file.size > MAX_TEXT_BYTES) throw tooLarge(shown, file.size);
  const bytes = await readUpTo(handle, MAX_TEXT_BYTES);
  if (looksBinary(bytes)) throw new WorkspaceError("binary", `${shown} is a binary file, not text.`);
  return bytes;
}

/** Reads until the end or the limit, not by the size: a file can grow or shrink meanwhile. */
export async function readUpTo(handle: FileHandle, limit: number): Promise<Buffer> {
  const { size } = await handle.stat();
  let buffer = Buffer.allocUnsafe(Math.min(size + 1, limit));
  let length = 0;
  for (;;) {
    if (length === buffer.length) {
      if (length >= limit) break;
      buffer = Buffer.concat([buffer], Math.min(length * 2 + 1, limit));
    }
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

export async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error: unknown) => {
      if (errnoOf(error) === "ENOENT") return false;
      throw error;
    },
  );
}

function tooLarge(shown: string, size: number): WorkspaceError {
  const megabytes = (size / 1e6).toFixed(0);
  return new WorkspaceError(
    "too_large",
    `${shown} is too large to handle whole (${megabytes} MB). Use a shell command.`,
  );
}
