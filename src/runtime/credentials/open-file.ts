/** The credential file for a command that changes it. */
import type { Variables } from "../../base/variables.js";
import { parseFlags } from "../../commands/flags.js";
import { CredentialError } from "../../security/credentials/credential-error.js";
import { CredentialFile } from "../../security/credentials/credential-file.js";
import { findCredentialKey, LOCKED, neededKey } from "../../security/credentials/credential-key.js";
import { nodeClock } from "../../system/node-clock.js";
import { loadSettings } from "../settings/settings.js";
import { credentialFile, keyPlaces } from "./credential-places.js";

export interface CredentialFileOptions {
  readonly variables: Variables;
  /** Asks for the passphrase of the file; absent if no user can answer. */
  readonly askPassphrase?: (path: string) => Promise<string>;
  warn(message: string): void;
}

export async function openCredentialFile({
  variables,
  askPassphrase,
  warn,
}: CredentialFileOptions): Promise<CredentialFile> {
  const { settings } = await loadSettings(parseFlags([], [], ""), variables);
  const choice = settings.credential_key.value;
  const path = credentialFile(variables);
  const key = async () => {
    const places = keyPlaces({ variables, choice });
    const asks = neededKey(places) === "passphrase" && !places.passphrase;
    if (asks && askPassphrase === undefined) throw new CredentialError("locked", LOCKED);
    const passphrase = asks ? await askPassphrase?.(path) : places.passphrase;
    const { created, ...found } = await findCredentialKey({ ...places, passphrase });
    if (created !== undefined) warn(`keys are stored, encrypted, in ${path}. Their key is ${created}.`);
    return found;
  };
  let found: ReturnType<typeof key> | undefined;
  return new CredentialFile({
    path,
    clock: nodeClock,
    key: () => {
      found ??= key();
      return found;
    },
  });
}
