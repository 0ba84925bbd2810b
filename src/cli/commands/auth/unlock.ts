/** `oxbow auth unlock`: the passphrase goes only to the helper process. */
import type { Variables } from "../../../base/variables.js";
import { openCredentialFile } from "../../../runtime/credentials/commands.js";
import { startCredentialHelper } from "../../../runtime/credentials/stored-credentials.js";
import { readCatalogue } from "../../../security/credentials/catalogue.js";
import { CredentialError } from "../../../security/credentials/credential-error.js";
import type { CredentialFile } from "../../../security/credentials/credential-file.js";
import { LOCKED, neededKey } from "../../../security/credentials/credential-key.js";
import { runningHelper } from "../../../security/credentials/helper/running-helper.js";
import { credentialFile, keyPlaces } from "../../../security/credentials/places.js";
import { nodeClock } from "../../../system/node-clock.js";
import { EXIT } from "../../exit-codes.js";
import { printMessage } from "../../print-message.js";
import { personPresent, readInput } from "../../terminal-io.js";
import type { SecretContext } from "./open-commands.js";

export async function unlock({ args, variables }: SecretContext): Promise<number> {
  if ((await runningHelper(variables)) !== undefined) {
    process.stdout.write("The keys are already unlocked.\n");
    return EXIT.answered;
  }
  const places = keyPlaces({ variables, choice: "file" });
  if (neededKey(places) !== "passphrase") throw new CredentialError("refused", "The stored keys have no passphrase.");
  const passphrase = args.hasFlag("stdin")
    ? ((await readInput({ patient: true })) ?? "").replace(/\r?\n$/, "")
    : await askPassphrase(credentialFile(variables));
  await startCredentialHelper(variables, { passphrase });
  process.stdout.write("The keys stay open until they have been idle for a while ('oxbow auth lock' closes them).\n");
  return EXIT.answered;
}

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
