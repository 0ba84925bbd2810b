/** The commands about keys, for `oxbow auth` and `oxbow creds`. */
import { UsageError } from "../../../base/usage-error.js";
import type { Variables } from "../../../base/variables.js";
import type { CommandArguments, OpenShell } from "../../../feature/command.js";
import { SET, UNLOCK } from "../../../security/credentials/commands.js";

export const openShell: OpenShell = async ({ variables, notify }) => {
  const [{ makeHome }, { keyCommands }, { CredentialError }, { askPassphrase }] = await Promise.all([
    import("../../../system/home-folder.js"),
    import("../../../runtime/credentials/commands.js"),
    import("../../../security/credentials/credential-error.js"),
    import("./unlock.js"),
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
  const commands = keyCommands({ variables, askPassphrase, warn: notify });
  const set = async (args: CommandArguments) => (await import("./set.js")).setKey({ args, variables });
  const unlock = async (args: CommandArguments) => (await import("./unlock.js")).unlock({ args, variables });
  return {
    commands: commands.map((command) => ({
      ...command,
      run: (args, context) => explained(async () => command.run(args, context)),
    })),
    terminalCommands: [
      { ...SET, take: (args) => explained(() => set(args)) },
      { ...UNLOCK, take: (args) => explained(() => unlock(args)) },
    ],
  };
};

/** Describes what the commands that ask for a secret need. */
export interface SecretContext {
  readonly args: CommandArguments;
  readonly variables: Variables;
}
