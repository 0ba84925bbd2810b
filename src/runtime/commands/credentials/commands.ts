/** `auth list`, `auth remove` and `auth lock`. The rest asks for secrets, which only a terminal does. */
import type { Variables } from "../../../base/variables.js";
import { AUTH_LIST, AUTH_LOCK, AUTH_REMOVE } from "../../../commands/catalogue/credentials.js";
import type { Command } from "../../../commands/command.js";
import type { CredentialFile } from "../../../security/credentials/credential-file.js";

export interface CredentialsPort {
  readonly variables: Variables;
  /** The credential file, to change it. */
  openFile(): Promise<CredentialFile>;
}

export function credentialCommands(port: CredentialsPort): readonly Command[] {
  return [
    { ...AUTH_LIST, run: async () => (await import("./list.js")).listKeys(port) },
    { ...AUTH_REMOVE, run: async (args) => (await import("./remove.js")).removeKey(args, port) },
    { ...AUTH_LOCK, run: async () => (await import("./lock.js")).lock(port) },
  ];
}

/** For a conversation, which cannot ask for a passphrase. */
export async function sessionCredentialCommands(variables: Variables): Promise<readonly Command[]> {
  const { openCredentialFile } = await import("../../credentials/open-file.js");
  return credentialCommands({ variables, openFile: () => openCredentialFile({ variables, warn: () => {} }) });
}
