/** `auth remove PROVIDER`. */
import { UsageError } from "../../../base/usage-error.js";
import type { CommandArguments, CommandResult } from "../../../commands/command.js";
import { readCatalogue } from "../../../security/credentials/catalogue.js";
import { isSame } from "../../../security/credentials/credential-file.js";
import { credentialFile } from "../../credentials/credential-places.js";
import type { CredentialsPort } from "./commands.js";
import { namedEntry } from "./named-entry.js";

export async function removeKey(args: CommandArguments, port: CredentialsPort): Promise<CommandResult> {
  const which = namedEntry(args);
  const entries = readCatalogue(credentialFile(port.variables))?.entries ?? [];
  const file = await port.openFile();
  if (!entries.some((entry) => isSame(entry, which)) || !(await file.remove(which))) {
    const others = entries.filter((entry) => entry.provider === which.provider).map((entry) => entry.account);
    const advice = others.length === 0 ? "'oxbow auth list' lists the stored keys." : `Stored: ${others.join(", ")}.`;
    throw new UsageError(`No key is stored for ${which.provider} (${which.account}). ${advice}`);
  }
  return {
    text: `Removed the key for ${which.provider}. It is still valid: if others know it, revoke it at the provider.`,
    value: { ...which, removed: true },
  };
}
