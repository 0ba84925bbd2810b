/** The commands about keys, for `oxbow auth` and `oxbow creds`. */
import { UsageError } from "../../../base/usage-error.js";
import type { Variables } from "../../../base/variables.js";
import { AUTH_SET, AUTH_UNLOCK } from "../../../commands/catalogue/credentials.js";
import type { CommandArguments } from "../../../commands/command.js";
import type { ParsedFlags } from "../../../commands/flags.js";
import type { ShellPlace } from "../../shell-command.js";

export async function openCredentialCommands(_flags: ParsedFlags, variables: Variables): Promise<ShellPlace> {
  const [{ makeHome }, { credentialCommands }, { CredentialError }, { openFileAtTerminal }] = await Promise.all([
    import("../../../runtime/settings/home-folder.js"),
    import("../../../runtime/commands/credentials/commands.js"),
    import("../../../security/credentials/credential-error.js"),
    import("./ask-passphrase.js"),
  ]);
  makeHome(variables);
  const explained = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof CredentialError) throw new UsageError(error.message);
      throw error;
    }
  };
  const commands = credentialCommands({ variables, openFile: () => openFileAtTerminal(variables) });
  const set = async (args: CommandArguments) => (await import("./set.js")).setKey({ args, variables });
  const unlock = async (args: CommandArguments) => (await import("./unlock.js")).unlock({ args, variables });
  return {
    commands: commands.map((command) => ({
      ...command,
      run: (args, context) => explained(async () => command.run(args, context)),
    })),
    terminalCommands: [
      { ...AUTH_SET, take: (args) => explained(() => set(args)) },
      { ...AUTH_UNLOCK, take: (args) => explained(() => unlock(args)) },
    ],
  };
}

/** What the commands that ask for a secret need. */
export interface SecretContext {
  readonly args: CommandArguments;
  readonly variables: Variables;
}
