/** `oxbow token`. */
import { TOKEN_FILE, TOKEN_LIST, TOKEN_MAKE, TOKEN_REVOKE } from "../../runtime/commands/program.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";

export const shell: ShellCommand = {
  name: "token",
  specs: [TOKEN_MAKE, TOKEN_LIST, TOKEN_REVOKE, TOKEN_FILE],
  about: `A token lets a client use sessions of your engine ('oxbow serve', or a running terminal client): a teammate, an editor, another agent.
It is for the sessions that you name. You confirm it with a six-digit code that appears in your client, your terminal or on your desktop.`,
  more: "docs/service.md explains tokens. Your own token is in the state folder (control.token); never pass it on.",
  open: async (flags, variables) => {
    const { makeToken, tokenCommands, writeTokenFile } = await import("../tokens/token-commands.js");
    return {
      commands: tokenCommands(variables),
      terminalCommands: [
        { ...TOKEN_MAKE, take: () => makeToken(flags, variables) },
        { ...TOKEN_FILE, take: (args) => writeTokenFile(args.text("FILE") ?? "", flags) },
      ],
    };
  },
};

export const run = shellRunner(shell);
