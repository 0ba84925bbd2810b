/** `oxbow creds …` (feature M11): the same file by provider and account. */
import type { Variables } from "../../base/variables.js";
import { CREDS_ACTIONS } from "./auth/actions.js";
import { runKeyCommand } from "./auth/key-command.js";

export function run(args: readonly string[], variables: Variables): Promise<number> {
  return runKeyCommand({
    variables,
    name: "creds",
    args,
    actions: CREDS_ACTIONS,
    epilogue: `The key is asked for without being shown; scripts give it with --stdin. 'oxbow auth' has more.
`,
  });
}
