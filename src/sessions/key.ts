/** The key of the session database. How a key is found is the same for everything that is encrypted: system/user-key.ts. */
import { KeyError } from "../system/key-error.js";
import { resolveKey as resolveUserKey, type KeyOptions as UserKeyOptions } from "../system/user-key.js";
import { StoreError } from "./store.js";

export type { ResolvedKey } from "../system/user-key.js";

export interface KeyOptions extends Omit<UserKeyOptions, "keyhole"> {
  /** The database the key is for. */
  readonly database: string;
}

export async function resolveKey({ database, ...options }: KeyOptions) {
  try {
    return await resolveUserKey({
      ...options,
      keyhole: { name: "sessions", path: database, noun: "database", setting: "session_key" },
    });
  } catch (error) {
    if (error instanceof KeyError) throw new StoreError(error.code, error.message, { cause: error });
    throw error;
  }
}
