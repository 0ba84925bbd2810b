/** `auth lock`. */
import type { CommandResult } from "../../../commands/command.js";
import type { CredentialsPort } from "./commands.js";
import { runningHelper } from "./running-helper.js";

export async function lock({ variables }: Pick<CredentialsPort, "variables">): Promise<CommandResult> {
  const helper = await runningHelper(variables);
  await helper?.stop();
  const text = helper === undefined ? "No helper is running." : "The helper has stopped and forgotten the keys.";
  return { text, value: { stopped: helper !== undefined } };
}
