/** `oxbow auth remove PROVIDER`. */

import { UsageError } from "../../../base/usage-error.js";
import { credentialFile } from "../../../runtime/credentials/credential-places.js";
import { readCatalogue } from "../../../security/credentials/catalogue.js";
import { isSame } from "../../../security/credentials/credential-file.js";
import { EXIT } from "../../exit-codes.js";
import type { KeyActionContext } from "./key-command.js";
import { namedEntry } from "./named-entry.js";
import { openCredentialFile } from "./open-file.js";

export async function run(context: KeyActionContext): Promise<number> {
  const { variables } = context;
  const which = namedEntry(context);
  const entries = readCatalogue(credentialFile(variables))?.entries ?? [];
  const file = await openCredentialFile(variables);
  if (!entries.some((entry) => isSame(entry, which)) || !(await file.remove(which))) {
    const others = entries.filter((entry) => entry.provider === which.provider).map((entry) => entry.account);
    const advice = others.length === 0 ? "'oxbow auth list' shows what there is." : `There is: ${others.join(", ")}.`;
    throw new UsageError(`No key is stored for ${which.provider} (${which.account}). ${advice}`);
  }
  process.stdout.write(
    `Forgot the key for ${which.provider}. It is still valid there: revoke it if it is known to others.\n`,
  );
  return EXIT.answered;
}
