/** The database library's errors in words a user can act on. */
import { StoreError, type StoreErrorCode } from "../../base/store-error.js";

const CODES: readonly (readonly [RegExp, StoreErrorCode, string])[] = [
  [
    /^SQLITE_NOTADB/,
    "wrong-key",
    "was made with another key, or its header is damaged. Restore the OXBOW_MACHINE_KEY, OXBOW_PASSPHRASE or key file that it was made with, or move the file away to start a new one. Nothing was changed",
  ],
  [/^SQLITE_CORRUPT/, "damaged", "is damaged"],
  [/^SQLITE_(BUSY|LOCKED)/, "busy", "is held by another process; try again when that has finished"],
  [/^SQLITE_FULL/, "full", "cannot grow: the disk is full. Free some space; all that is saved is safe"],
  [
    /^SQLITE_READONLY/,
    "unavailable",
    "can be read but not changed: the disk is full or read-only. Free some space, or make the disk writable",
  ],
  [
    /^SQLITE_IOERR/,
    "unavailable",
    "cannot be used: the disk is full or reports an error. Free some space, or check the disk",
  ],
  [
    /^SQLITE_(CANTOPEN|PERM|AUTH|NOLFS)/,
    "unavailable",
    "cannot be opened. Check that you may read and write it and its folder",
  ],
];
/** Extended result codes that the library has no name for; the low byte is the primary code. */
const PRIMARY = new Map([
  [5, "SQLITE_BUSY"],
  [8, "SQLITE_READONLY"],
  [10, "SQLITE_IOERR"],
  [11, "SQLITE_CORRUPT"],
  [13, "SQLITE_FULL"],
  [14, "SQLITE_CANTOPEN"],
  [26, "SQLITE_NOTADB"],
]);

/** A database and what people call it. */
export interface Named {
  readonly path: string;
  readonly noun: string;
}

/** Runs a call of the library; unknown errors pass through. */
export function guarded<T>({ path, noun }: Named, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    const { code, rawCode } = cause as { readonly code?: unknown; readonly rawCode?: unknown };
    const named = (typeof rawCode === "number" && PRIMARY.get(rawCode & 0xff)) || String(code);
    const entry = CODES.find(([pattern]) => pattern.test(named));
    if (entry === undefined) throw cause;
    throw new StoreError(entry[1], `The ${noun} ${path} ${entry[2]} (${firstLine(cause)}).`, { cause });
  }
}

export function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error).split("\n", 1)[0] as string;
}
