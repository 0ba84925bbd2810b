/** The lock of a session's folder: system/file-lock.ts with the store's errors. */
import { LockBusy, type LockOptions, withLock as withFileLock } from "../../system/file-lock.js";
import { StoreError } from "../store.js";
import { asStoreError } from "./file-errors.js";

export async function withLock<T>(path: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  let holding = false;
  try {
    return await withFileLock(path, options, () => {
      holding = true;
      return work();
    });
  } catch (error) {
    if (holding) throw error;
    if (error instanceof LockBusy) throw new StoreError("busy", `This session is ${error.message}`, { cause: error });
    throw asStoreError(error, path);
  }
}
