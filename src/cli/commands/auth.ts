/** `oxbow auth …` (feature M13): keys and sign-ins, by provider. */
import type { Variables } from "../../base/variables.js";
import { AUTH_ACTIONS } from "./auth/actions.js";
import { runKeyCommand } from "./auth/key-command.js";

export function run(args: readonly string[], variables: Variables): Promise<number> {
  return runKeyCommand({
    variables,
    name: "auth",
    args,
    actions: AUTH_ACTIONS,
    epilogue: `The key is asked for without being shown; scripts give it with --stdin. A key is stored for one address, and a
process of its own adds it to requests there: neither the model's tools nor the engine see it.
A key in the environment (ANTHROPIC_API_KEY …) goes before a stored one.
chatgpt, claude and copilot are signed in to: 'oxbow auth set chatgpt' opens the browser, or takes a paste where there is none.
`,
  });
}
