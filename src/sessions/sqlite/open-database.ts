/** Opens the database file with the keys that come from the user's key. */
import { hkdfSync } from "node:crypto";
import { Database } from "../../system/sqlite/database.js";
import { StoreError } from "../store.js";

export interface OpenDatabaseOptions {
  readonly path: string;
  /** 32 bytes. */
  readonly key: Uint8Array;
  /** If nothing can be written, reading still works. */
  readonly isForReading?: boolean;
}

/** Why a database cannot be written to, and may still be read. */
const UNWRITABLE: ReadonlySet<string> = new Set(["full", "unavailable"]);

export async function openDatabase({ path, key, isForReading }: OpenDatabaseOptions): Promise<Database> {
  const options = { path, key: databaseKey(key) };
  try {
    return await Database.open(options);
  } catch (error) {
    if (!isForReading || !(error instanceof StoreError) || !UNWRITABLE.has(error.code)) throw error;
    return await Database.openView(options).catch(() => {
      throw error;
    });
  }
}

/** The key of the file itself. */
export function databaseKey(key: Uint8Array): Uint8Array {
  return derive(key, "oxbow session database 1");
}

/** The key of the index of words. */
export function indexKey(key: Uint8Array): Uint8Array {
  return derive(key, "oxbow session index 1");
}

/** The key of the chains of events. */
export function chainKey(key: Uint8Array): Uint8Array {
  return derive(key, "oxbow session chains 1");
}

/** The database and the chains have separate keys, both derived from the user's. */
function derive(key: Uint8Array, purpose: string): Uint8Array {
  if (key.length !== 32) throw new StoreError("invalid", `The key has ${key.length} bytes; it must have 32.`);
  return new Uint8Array(hkdfSync("sha256", key, "", purpose, 32));
}
