/** The command line as a table: a name, a line of help, and where to load it from. Nothing else is imported before it is needed. */

import { UsageError } from "../base/usage-error.js";
import type { Variables } from "../base/variables.js";
import type { Argument } from "../commands/command.js";
import type { Flag } from "../commands/flags.js";
import { EXIT } from "./exit-codes.js";
import { faultSentence } from "./fault-sentence.js";
import type { ShellCommand } from "./shell-command.js";

export { outputGuard } from "./output-guard.js";

export interface CliCommand {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly summary: string;
  readonly load: () => Promise<CliModule>;
}

/** `shell`, or else `FLAGS` and `ARGUMENTS`, say what it takes. */
export interface CliModule {
  run(args: readonly string[], variables: Variables): Promise<number>;
  readonly shell?: ShellCommand;
  readonly FLAGS?: readonly Flag[];
  readonly ARGUMENTS?: readonly Argument[];
}

export const COMMANDS: readonly CliCommand[] = [
  {
    name: "run",
    summary: "run one prompt to its end (the default for a prompt with spaces)",
    load: () => import("./commands/run.js"),
  },
  {
    name: "resume",
    summary: "continue a session: the one you name, or one you choose from a list",
    load: () => import("./commands/resume.js"),
  },
  {
    name: "session",
    aliases: ["sessions"],
    summary: "list, search, show, resume, branch, undo, export and import sessions",
    load: () => import("./commands/session.js"),
  },
  {
    name: "permissions",
    summary: "show and change what runs without asking; 'permissions test COMMAND' explains a decision",
    load: () => import("./commands/permissions.js"),
  },
  {
    name: "ack",
    summary: "review and approve what this folder would load and run",
    load: () => import("./commands/ack.js"),
  },
  {
    name: "verify-ack",
    summary: "check that everything is approved; exit code 5 if not",
    load: () => import("./commands/verify-ack.js"),
  },
  {
    name: "auth",
    summary: "store a provider's key: set, list, remove, unlock, lock",
    load: () => import("./commands/auth.js"),
  },
  {
    name: "creds",
    summary: "store keys by account: add, list, delete",
    load: () => import("./commands/creds.js"),
  },
  {
    name: "cost",
    summary: "show the spending, by model, day or project",
    load: () => import("./commands/cost.js"),
  },
  { name: "models", summary: "list the models that you can use now", load: () => import("./commands/models.js") },
  {
    name: "ollama",
    summary: "control the local Ollama: status, list, start, stop, use, pull",
    load: () => import("./commands/ollama.js"),
  },
  {
    name: "route",
    summary: "name models: '@NAME …' uses one for a single turn; several give failover",
    load: () => import("./commands/route.js"),
  },
  {
    name: "bench",
    summary: "measure how fast models answer",
    load: () => import("./commands/bench.js"),
  },
  { name: "tools", summary: "list the tools that the model can call", load: () => import("./commands/tools.js") },
  {
    name: "config",
    summary: "'config show' prints every setting and its origin",
    load: () => import("./commands/config.js"),
  },
  {
    name: "doctor",
    summary: "check what works on this machine, and how to fix the rest",
    load: () => import("./commands/doctor.js"),
  },
  {
    name: "debug",
    summary: "'debug --raw PROMPT' runs a prompt and writes the raw model traffic to a private file",
    load: () => import("./commands/debug.js"),
  },
  {
    name: "mock-model",
    summary: "run a scripted model server for tests",
    load: () => import("./commands/mock-model.js"),
  },
  {
    name: "completion",
    summary: "print the completion script of a shell: bash, zsh or fish",
    load: () => import("./commands/completion.js"),
  },
  {
    name: "help",
    summary: "this help; 'help COMMAND' for one command, 'help environment' for the variables",
    load: () => import("./commands/help.js"),
  },
  { name: "version", summary: "print the version", load: () => import("./commands/version.js") },
];

export async function main(args: readonly string[], variables: Variables): Promise<number> {
  try {
    const { command, rest } = choose(args);
    return await (await command.load()).run(rest, variables);
  } catch (error) {
    if (error instanceof UsageError) {
      process.stderr.write(`oxbow: ${error.message}\n`);
      return EXIT.usage;
    }
    if ((error as NodeJS.ErrnoException)?.code === "EPIPE") return EXIT.cancelled;
    process.stderr.write(`oxbow: ${faultSentence(error)}\n`);
    if (args.includes("--verbose") && error instanceof Error) process.stderr.write(`${error.stack}\n`);
    return EXIT.failed;
  }
}

/** A first word that names a command runs it; anything else that looks like a prompt is one. */
function choose(args: readonly string[]): { command: Pick<CliCommand, "load">; rest: readonly string[] } {
  const [first, ...rest] = args;
  const named = COMMANDS.find(
    ({ name, aliases }) => name === first || (first !== undefined && aliases?.includes(first)),
  );
  if (named !== undefined) return { command: named, rest };
  if (first === "--help" || first === "-h") return { command: find("help"), rest };
  if (first !== undefined && /^sess_\S*$/.test(first)) {
    return { command: find("run"), rest: ["--resume", first, ...rest] };
  }
  return { command: { load: () => import("./commands/bare-prompt.js") }, rest: args };
}

function find(name: string): CliCommand {
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (command === undefined) throw new Error(`no command ${name}`);
  return command;
}
