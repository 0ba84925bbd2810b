/** The operating system's errors in words a user can act on. */
import { StoreError, type StoreErrorCode } from "../store.js";

const CODES: Readonly<Record<string, readonly [StoreErrorCode, string]>> = {
  ENOSPC: ["full", "cannot be written: the disk is full. Free some space; all saved events are safe"],
  EDQUOT: ["full", "cannot be written: your quota is used up. Free some space; all saved events are safe"],
  EFBIG: ["full", "cannot grow: the system does not allow larger files. Raise the limit; all saved events are safe"],
  EACCES: ["unavailable", "cannot be used: it belongs to another user. Check its owner and mode"],
  EPERM: ["unavailable", "cannot be used: the system does not allow it. Check its owner and mode"],
  EROFS: ["unavailable", "cannot be written: the file system is read-only"],
  EMFILE: ["unavailable", "cannot be opened: too many files are open in this process"],
  ENFILE: ["unavailable", "cannot be opened: too many files are open on this machine"],
  ENOTDIR: ["unavailable", "cannot be used: a part of its path is not a folder"],
  EISDIR: ["unavailable", "cannot be used: it is a folder and should be a file"],
  ELOOP: ["unavailable", "cannot be used: it is a link and should be a file"],
  EIO: ["unavailable", "cannot be used: the disk reports an error"],
};

export function asStoreError(error: unknown, path: string): unknown {
  if (error instanceof StoreError) return error;
  const entry = CODES[errnoOf(error) ?? ""];
  if (entry === undefined) return error;
  return new StoreError(entry[0], `${path} ${entry[1]}.`, { cause: error });
}

/** Runs something that touches `path`; errors that are not ours to explain pass through. */
export async function guarded<T>(path: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw asStoreError(error, path);
  }
}

export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}

/** Runs something; undefined if the file does not exist. */
export async function ifThere<T>(action: () => Promise<T>): Promise<T | undefined> {
  try {
    return await action();
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
