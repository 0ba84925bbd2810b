/** `oxbow auth unlock`: the passphrase goes only to the helper process. */

import { startCredentialHelper } from "../../../runtime/credentials/stored-credentials.js";
import { CredentialError } from "../../../security/credentials/credential-error.js";
import { neededKey } from "../../../security/credentials/credential-key.js";
import { runningHelper } from "../../../security/credentials/helper/running-helper.js";
import { credentialFile, keyPlaces } from "../../../security/credentials/places.js";
import { EXIT } from "../../exit-codes.js";
import { readInput } from "../../terminal-io.js";
import { askPassphrase } from "./ask-passphrase.js";
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
