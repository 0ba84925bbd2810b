/** Joins the commands about keys with the settings and the providers. */
import type { Variables } from "../../base/variables.js";
import type { Command } from "../../feature/command.js";
import { parseFlags } from "../../feature/flags.js";
import { ProviderDirectory } from "../../providers/selection/provider-directory.js";
import { credentialCommands } from "../../security/credentials/commands.js";
import { CredentialError } from "../../security/credentials/credential-error.js";
import { CredentialFile } from "../../security/credentials/credential-file.js";
import { findCredentialKey, LOCKED, neededKey } from "../../security/credentials/credential-key.js";
import { credentialFile, keyPlaces } from "../../security/credentials/places.js";
import { nodeClock } from "../../system/node-clock.js";
import { loadSettings } from "../settings/settings.js";
import { StoredCredentials } from "./stored-credentials.js";

export interface CredentialFileOptions {
  readonly variables: Variables;
  /** Asks for the passphrase of the file; absent if no user can answer. */
  readonly askPassphrase?: (path: string) => Promise<string>;
  warn(message: string): void;
}

/** The commands that never ask for a secret. A conversation has no prompt for a passphrase. */
export function keyCommands(options: CredentialFileOptions): readonly Command[] {
  const { variables } = options;
  const providers = async () => (await openDirectory(variables)).reachable();
  return credentialCommands({ variables, providers, openFile: () => openCredentialFile(options) });
}

/** Opens the list of all providers, including the user's own. */
export async function openDirectory(variables: Variables): Promise<ProviderDirectory> {
  const { settings, roots, profilePath } = await loadSettings(parseFlags([], [], ""), variables);
  const tables = { value: settings.providers.value, file: profilePath };
  return ProviderDirectory.open({ variables, roots, stored: new StoredCredentials(variables), tables });
}

/** Opens the credential file for a command that changes it. */
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
