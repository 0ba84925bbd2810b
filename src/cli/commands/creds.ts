/** `oxbow creds`: the commands of `oxbow auth`, by provider and account. */
import * as specs from "../../commands/catalogue/credentials.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";
import { openCredentialCommands } from "./auth/open-commands.js";

export const shell: ShellCommand = {
  name: "creds",
  specs: [specs.AUTH_SET, specs.AUTH_LIST, specs.AUTH_REMOVE],
  about: "Stores the keys of providers, by account.",
  more: "Oxbow asks for the key and does not show it; scripts use --stdin. See also 'oxbow auth'.",
  open: openCredentialCommands,
};

export const run = shellRunner(shell);
