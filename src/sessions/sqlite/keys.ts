/** The keys of the database file, which come from the user's key. */
import { hkdfSync } from "node:crypto";
import { StoreError } from "../store.js";

/** The key of the file itself. */
export function databaseKey(key: Uint8Array): Uint8Array {
  return derive(key, "oxbow session database 1");
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
