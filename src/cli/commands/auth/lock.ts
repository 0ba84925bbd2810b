/** `oxbow auth lock`. */
import { EXIT } from "../../exit-codes.js";
import type { KeyActionContext } from "./key-command.js";
import { runningHelper } from "./running-helper.js";

export async function run({ variables }: KeyActionContext): Promise<number> {
  const helper = await runningHelper(variables);
  await helper?.stop();
  process.stdout.write(
    helper === undefined ? "No helper is running.\n" : "The helper has ended, and the opened keys with it.\n",
  );
  return EXIT.answered;
}
