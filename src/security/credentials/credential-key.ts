/**
 * The key of the credential file. A file that is there says which kind of key it was written with, and only that kind
 * is tried: a variable that appears later does not lock the user out. For a new file the order is the one of system/user-key.ts.
 */
import { KeyError } from "../../system/key-error.js";
import type { KeychainOptions } from "../../system/keychain.js";
import { resolveKey } from "../../system/user-key.js";
import { type KeyOrigin, readCatalogue } from "./catalogue.js";
import { CredentialError } from "./credential-error.js";
import type { FileKey } from "./credential-format.js";

/** Describes where the parts of the key are. It crosses a pipe to the helper process, so it is plain data. */
export interface KeyPlaces {
  /** `creds.enc`. */
  readonly path: string;
  /** The folder of the key file and the salt: not beside the file, so that a copy of one folder is not a copy of both. */
  readonly folder: string;
  readonly machineKey?: string | undefined;
  readonly passphrase?: string | undefined;
  /** Holds what a new file gets when neither of those is given. */
  readonly choice: "file" | "keychain" | "passphrase";
  readonly keychain: Pick<KeychainOptions, "path" | "platform" | "avoid">;
}

export interface FoundKey extends FileKey {
  /** The place where a new key was stored, for a message to the user. */
  readonly created?: string;
}

export const LOCKED = "The stored keys are locked with a passphrase. Run 'oxbow auth unlock', or set OXBOW_PASSPHRASE.";

/** Tells what kind of key is, or will be, needed. */
export function neededKey(places: KeyPlaces): KeyOrigin {
  const existing = readCatalogue(places.path)?.key.from;
  if (existing !== undefined) return existing;
  if (places.machineKey) return "machine-key";
  if (places.passphrase || places.choice === "passphrase") return "passphrase";
  return places.choice === "keychain" ? "keychain" : "key-file";
}

export async function findCredentialKey(places: KeyPlaces): Promise<FoundKey> {
  const needed = neededKey(places);
  const { machineKey, passphrase } = places;
  if (needed === "machine-key" && !machineKey) {
    throw new CredentialError("locked", `${places.path} was written with OXBOW_MACHINE_KEY, which is not set.`);
  }
  if (needed === "passphrase" && !passphrase) throw new CredentialError("locked", LOCKED);
  try {
    return await resolveKey({
      folder: places.folder,
      keyhole: { name: "creds", path: places.path, noun: "credential file", setting: "credential_key" },
      ...(needed === "machine-key" && { machineKey }),
      ...(needed === "passphrase" && { passphrase }),
      ...(needed === "keychain" && { keychain: places.keychain }),
    });
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    throw new CredentialError(error.code === "wrong-key" ? "wrong-key" : "unavailable", error.message, {
      cause: error,
    });
  }
}
