/** Asks a person for the passphrase of the credential file. */

import type { Variables } from "../../../base/variables.js";
import { openCredentialFile } from "../../../runtime/credentials/commands.js";
import { readCatalogue } from "../../../security/credentials/catalogue.js";
import { CredentialError } from "../../../security/credentials/credential-error.js";
import type { CredentialFile } from "../../../security/credentials/credential-file.js";
import { LOCKED } from "../../../security/credentials/credential-key.js";
import { nodeClock } from "../../../system/node-clock.js";
import { printMessage } from "../../print-message.js";
import { personPresent } from "../../terminal-io.js";

/** The credential file; asks for its passphrase when it needs it. */
export function openFileAtTerminal(variables: Variables): Promise<CredentialFile> {
  const warn = (message: string) => printMessage(message);
  return openCredentialFile({ variables, askPassphrase, warn });
}

export async function askPassphrase(path: string): Promise<string> {
  if (!personPresent()) throw new CredentialError("locked", LOCKED);
  const { askSecret } = await import("../../secret-prompt.js");
  const isNew = readCatalogue(path) === undefined;
  const first = await askSecret({ question: isNew ? "New passphrase: " : "Passphrase: ", clock: nodeClock });
  if (!first || first.includes("\n"))
    throw new CredentialError("locked", "A passphrase is one line. Nothing was changed.");
  if (!isNew) return first;
  const again = await askSecret({ question: "Enter it again: ", clock: nodeClock });
  if (again !== first) throw new CredentialError("locked", "The two entries differ. Nothing was changed.");
  return first;
}
