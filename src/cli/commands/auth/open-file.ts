/** The credential file for a command that changes it. A passphrase is asked for when it is needed and a person is there. */

import type { Variables } from "../../../base/variables.js";
import { parseFlags } from "../../../commands/flags.js";
import { credentialFile, keyPlaces } from "../../../runtime/credentials/credential-places.js";
import { loadSettings } from "../../../runtime/settings/settings.js";
import { readCatalogue } from "../../../security/credentials/catalogue.js";
import { CredentialError } from "../../../security/credentials/credential-error.js";
import { CredentialFile } from "../../../security/credentials/credential-file.js";
import { findCredentialKey, LOCKED, neededKey } from "../../../security/credentials/credential-key.js";
import { nodeClock } from "../../../system/node-clock.js";
import { personPresent } from "../../terminal-io.js";

export async function openCredentialFile(variables: Variables): Promise<CredentialFile> {
  const { settings } = await loadSettings(parseFlags([], [], ""), variables);
  const choice = settings.credential_key.value;
  const path = credentialFile(variables);
  const key = async () => {
    const places = keyPlaces({ variables, choice });
    const asks = neededKey(places) === "passphrase" && !places.passphrase;
    const passphrase = asks ? await askPassphrase(path) : places.passphrase;
    const { created, ...found } = await findCredentialKey({ ...places, passphrase });
    if (created !== undefined)
      process.stderr.write(`oxbow: keys are stored, encrypted, in ${path}. Their key is ${created}.\n`);
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

export async function askPassphrase(path: string): Promise<string> {
  if (!personPresent()) throw new CredentialError("locked", LOCKED);
  const { askSecret } = await import("../../secret-prompt.js");
  const isNew = readCatalogue(path) === undefined;
  const first = await askSecret({ question: isNew ? "New passphrase: " : "Passphrase: ", clock: nodeClock });
  if (!first || first.includes("\n"))
    throw new CredentialError("locked", "A passphrase is one line. Nothing was changed.");
  if (!isNew) return first;
  const again = await askSecret({ question: "The same again: ", clock: nodeClock });
  if (again !== first) throw new CredentialError("locked", "The two are not the same. Nothing was changed.");
  return first;
}
