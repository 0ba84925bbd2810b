/** Opens a database for commands that may only read: on a full or read-only disk they see it, and changes are refused. */
import { StoreError } from "../../base/store-error.js";
import { Database, type DatabaseOptions } from "./database.js";

/** Explains why a database cannot be written to, and may still be read. */
const UNWRITABLE: ReadonlySet<string> = new Set(["full", "unavailable"]);

/** `open` opens the database with the given function, and brings it up to date. */
export async function openOrView<T>(
  isForReading: boolean | undefined,
  open: (database: (options: DatabaseOptions) => Promise<Database>) => Promise<T>,
): Promise<T> {
  try {
    return await open((options) => Database.open(options));
  } catch (error) {
    if (!isForReading || !(error instanceof StoreError) || !UNWRITABLE.has(error.code)) throw error;
    return await open((options) => Database.openView(options)).catch(() => {
      throw error;
    });
  }
}
