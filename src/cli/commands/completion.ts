/** `oxbow completion bash|zsh|fish`, and the candidates for the scripts. */
import { safeLine } from "../../base/terminal-text.js";
import type { Variables } from "../../base/variables.js";
import type { CommandResult } from "../../feature/command.js";
import { COMPLETION_CANDIDATES, COMPLETION_SCRIPT } from "../../runtime/commands/program.js";
import { SCRIPTS, type Shell } from "../completion/scripts.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";

export const shell: ShellCommand = {
  name: "completion",
  specs: [COMPLETION_SCRIPT, COMPLETION_CANDIDATES],
  about: `Prints a script that completes commands, flags, sessions, routes and models.

  bash  source <(oxbow completion bash)      in ~/.bashrc
  zsh   source <(oxbow completion zsh)       in ~/.zshrc, after compinit
  fish  oxbow completion fish | source       in ~/.config/fish/config.fish`,
  open: async (_flags, variables) => ({
    commands: [
      { ...COMPLETION_SCRIPT, run: (args) => script(args.text("SHELL") as Shell) },
      { ...COMPLETION_CANDIDATES, run: (args) => candidates(args.list("WORD"), variables) },
    ],
  }),
};

export const run = shellRunner(shell);

function script(name: Shell): CommandResult {
  return { text: SCRIPTS[name].trimEnd(), value: { shell: name, script: SCRIPTS[name] } };
}

async function candidates(words: readonly string[], variables: Variables): Promise<CommandResult> {
  const [{ candidatesFor }, { completionWorld }] = await Promise.all([
    import("../completion/candidates.js"),
    import("../completion/world.js"),
  ]);
  const found = await candidatesFor(words, completionWorld(variables));
  if (typeof found === "string") return { text: found, value: found };
  const lines = found.map(({ value, about = "" }) => `${value}\t${safeLine(about)}`);
  return { text: lines.join("\n"), value: found.map((each) => ({ ...each })) };
}
