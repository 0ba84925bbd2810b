/** `oxbow auth`: keys and sign-ins, by provider. */
import * as specs from "../../commands/catalogue/credentials.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";
import { openCredentialCommands } from "./auth/open-commands.js";

export const shell: ShellCommand = {
  name: "auth",
  specs: [specs.AUTH_SET, specs.AUTH_LIST, specs.AUTH_REMOVE, specs.AUTH_UNLOCK, specs.AUTH_LOCK],
  about: "Stores the keys of providers, and signs in to them.",
  more: `Oxbow asks for the key without showing it; scripts give it with --stdin. A key is stored for one address, and a separate
process adds it to requests there: neither the model's tools nor the engine see it.
A key in the environment (ANTHROPIC_API_KEY …) goes before a stored one.
'oxbow auth set chatgpt' (or claude, copilot) signs in: it opens the browser, or takes a paste where there is none.`,
  open: openCredentialCommands,
};

export const run = shellRunner(shell);
