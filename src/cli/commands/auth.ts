/** `oxbow auth`: keys and sign-ins, by provider. */
import * as specs from "../../commands/catalogue/credentials.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";
import { openCredentialCommands } from "./auth/open-commands.js";

export const shell: ShellCommand = {
  name: "auth",
  specs: [specs.AUTH_SET, specs.AUTH_LIST, specs.AUTH_REMOVE, specs.AUTH_UNLOCK, specs.AUTH_LOCK],
  about: "Stores the keys of providers, and signs in to them.",
  more: `Oxbow asks for the key and does not show it; scripts use --stdin. Oxbow stores a key for one address. A helper process
adds it to requests there: neither the engine nor the model's tools see it.
A key in the environment (ANTHROPIC_API_KEY …) overrides a stored one.
'oxbow auth set chatgpt' (or claude, copilot) signs in: it opens the browser, or asks for a pasted code.`,
  open: openCredentialCommands,
};

export const run = shellRunner(shell);
