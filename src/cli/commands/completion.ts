/** `oxbow completion bash|zsh|fish`, and the candidates that the scripts ask for. */
import { safeLine } from "../../base/terminal-text.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import type { Argument } from "../../commands/command.js";
import type { Flag } from "../../commands/flags.js";
import { SCRIPTS, SHELLS } from "../completion/scripts.js";
import { EXIT } from "../exit-codes.js";

const USAGE = `Usage: oxbow completion bash|zsh|fish

Prints a script that completes commands, flags, sessions, routes and models.

  bash  source <(oxbow completion bash)      in ~/.bashrc
  zsh   source <(oxbow completion zsh)       in ~/.zshrc, after compinit
  fish  oxbow completion fish | source       in ~/.config/fish/config.fish
`;

export const ARGUMENTS: readonly Argument[] = [{ name: "SHELL", kind: "choice", complete: SHELLS }];
export const FLAGS: readonly Flag[] = [{ name: "help", short: "h", help: "show this help" }];

export async function run(args: readonly string[], variables: Variables): Promise<number> {
  const [first, ...rest] = args;
  if (first === "candidates") return candidates(rest[0] === "--" ? rest.slice(1) : rest, variables);
  if (args.includes("--help") || args.includes("-h")) {
    process.stdout.write(USAGE);
    return EXIT.answered;
  }
  const shell = SHELLS.find((name) => name === first);
  if (shell === undefined || rest.length > 0) {
    throw new UsageError(`Give one shell: oxbow completion ${SHELLS.join("|")}.`);
  }
  process.stdout.write(SCRIPTS[shell]);
  return EXIT.answered;
}

async function candidates(words: readonly string[], variables: Variables): Promise<number> {
  const [{ candidatesFor }, { completionWorld }] = await Promise.all([
    import("../completion/candidates.js"),
    import("../completion/world.js"),
  ]);
  const found = await candidatesFor(words, completionWorld(variables));
  const lines =
    typeof found === "string" ? [found] : found.map(({ value, about = "" }) => `${value}\t${safeLine(about)}`);
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
  return EXIT.answered;
}
