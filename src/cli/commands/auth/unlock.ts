/** `oxbow auth unlock`: the passphrase goes from the person to the helper process, and nowhere else. */

import { credentialFile, keyPlaces } from "../../../runtime/credentials/credential-places.js";
import { startCredentialHelper } from "../../../runtime/credentials/stored-credentials.js";
import { CredentialError } from "../../../security/credentials/credential-error.js";
import { neededKey } from "../../../security/credentials/credential-key.js";
import { EXIT } from "../../exit-codes.js";
import { readInput } from "../../terminal-io.js";
import type { KeyActionContext } from "./key-command.js";
import { askPassphrase } from "./open-file.js";
import { runningHelper } from "./running-helper.js";

export async function run({ flags, variables }: KeyActionContext): Promise<number> {
  if ((await runningHelper(variables)) !== undefined) {
    process.stdout.write("The keys are open already.\n");
    return EXIT.answered;
  }
  const places = keyPlaces({ variables, choice: "file" });
  if (neededKey(places) !== "passphrase") throw new CredentialError("refused", "The stored keys have no passphrase.");
  const passphrase = flags.has("stdin")
    ? ((await readInput({ patient: true })) ?? "").replace(/\r?\n$/, "")
    : await askPassphrase(credentialFile(variables));
  await startCredentialHelper(variables, { passphrase });
  process.stdout.write("The keys are open until nobody has used them for a while ('oxbow auth lock' closes them).\n");
  return EXIT.answered;
}
