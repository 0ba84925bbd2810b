/** `oxbow help`: all commands of the program, or one of them; each command explains itself. */
import { nearest } from "../../base/nearest.js";
import { safeLine } from "../../base/terminal-text.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { VERSION } from "../../base/version.js";
import { HELP } from "../../commands/catalogue/conversation.js";
import { programSummary } from "../../commands/catalogue/index.js";
import type { CommandContext, CommandResult } from "../../commands/command.js";
import { helpLines, parseFlags } from "../../commands/flags.js";
import type { OwnProvider } from "../../runtime/models/model-registry.js";
import { COMMANDS } from "../command-table.js";
import { KNOWN_VARIABLES, type KnownVariable } from "../known-variables.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";
import { RUN_FLAGS } from "./run-flags.js";

export const shell: ShellCommand = {
  name: "help",
  specs: [HELP],
  about: "Lists the commands, or explains one. 'oxbow help environment' lists the variables.",
  open: async (_flags, variables) => ({
    commands: [{ ...HELP, run: (args, context) => help(args.list("COMMAND"), { context, variables }) }],
  }),
};

export const run = shellRunner(shell);

interface Asking {
  readonly context: CommandContext;
  readonly variables: Variables;
}

async function help([topic, ...rest]: readonly string[], { context, variables }: Asking): Promise<CommandResult> {
  if (topic === undefined) {
    const value = COMMANDS.map(({ name, aliases = [] }) => ({ name, aliases, summary: programSummary(name) }));
    return { text: generalHelp() + (await foundHere(variables)) + providersHelp(await ownProviders(variables)), value };
  }
  if (topic === "environment") {
    const own = (await ownProviders(variables)).flatMap(({ variables: named }) => named);
    const known = [...KNOWN_VARIABLES, ...own.map(({ name, description }) => ({ name, meaning: description }))];
    return { text: environmentHelp(known), value: known.map((variable) => ({ ...variable })) };
  }
  const command = COMMANDS.find(({ name, aliases }) => name === topic || aliases?.includes(topic));
  if (command === undefined) throw new UsageError(unknownTopic(topic));
  const { name, aliases = [] } = command;
  if (context.wants !== "value") await (await command.load()).run([...rest, "--help"], variables);
  return { text: "", value: { name, aliases, summary: programSummary(name) } };
}

function unknownTopic(topic: string): string {
  const near = nearest(topic, [...COMMANDS.map(({ name }) => name), "environment"]);
  const advice = near === undefined ? "'oxbow --help' lists the commands." : `Did you mean 'oxbow help ${near}'?`;
  return `There is no command '${topic}'. ${advice}`;
}

/** What Oxbow finds in the folders of this place: programs, skills, instructions … */
async function foundHere(variables: Variables): Promise<string> {
  const [{ foundByKind }, { loadSettings }, { openRoot }] = await Promise.all([
    import("../../runtime/commands/sources.js"),
    import("../../runtime/settings/settings.js"),
    import("../../tools/files/workspace-root.js"),
  ]);
  const loaded = await loadSettings(parseFlags([], [], "help"), variables);
  const found = await foundByKind({ loaded, variables, root: await openRoot(process.cwd()) });
  if (found.length === 0) return "";
  return `\n\nFound here ('oxbow sources' shows the folders and what waits for approval)\n${found.map((line) => `  ${line}`).join("\n")}`;
}

function generalHelp(): string {
  const width = Math.max(...COMMANDS.map((command) => command.name.length));
  const commands = COMMANDS.map(({ name }) => `  ${name.padEnd(width)}  ${programSummary(name)}`).join("\n");
  return `oxbow ${VERSION}: runs a language model in a loop with tools over this folder.

Usage
  oxbow "PROMPT" [flags]        run one prompt to its end; a prompt of one word needs 'oxbow run WORD'
  oxbow                         open a conversation in the terminal; --plain: line by line
  oxbow "/COMMAND"              run one command of the conversation, such as /help
  oxbow --run SCRIPT            run a file of commands and prompts, one a line
  COMMAND | oxbow run [PROMPT]  the input is added to the prompt
  oxbow COMMAND [flags]         'oxbow help COMMAND' explains each

Commands
${commands}

Flags of a run
${helpLines(RUN_FLAGS)}

Exit codes
  0 answered · 1 failed · 2 usage or configuration · 3 a limit was reached · 4 permission needed, no terminal
  to ask on · 5 unapproved content refused · 6 no model · 130 cancelled

Models
  'oxbow auth set PROVIDER' stores a key or signs in; ANTHROPIC_API_KEY, OPENAI_API_KEY (and OPENAI_BASE_URL) … work as well.
  Without a key, Oxbow uses a server on this machine: Ollama, llama.cpp, LM Studio, vLLM. Without a server, the built-in
  offline model answers with rules and real tools, and says so.
  'oxbow doctor' shows what Oxbow found. 'oxbow help environment' lists all variables.`;
}

/** The providers that the user added, which the help names with their variables. */
async function ownProviders(variables: Variables): Promise<readonly OwnProvider[]> {
  const [{ loadSettings }, { createModelRegistry }] = await Promise.all([
    import("../../runtime/settings/settings.js"),
    import("../../runtime/models/model-registry.js"),
  ]);
  const { settings, roots, profilePath } = await loadSettings(parseFlags([], [], "help"), variables);
  const tables = { value: settings.providers.value, file: profilePath };
  return createModelRegistry({ variables, roots, tables }).ownProviders();
}

function providersHelp(own: readonly OwnProvider[]): string {
  if (own.length === 0) return "";
  const width = Math.max(...own.map(({ name }) => name.length));
  const lines = own.map(({ name, about, variables }) => {
    const names = variables.map((variable) => variable.name).join(", ");
    return safeLine(`  ${name.padEnd(width)}  ${about}${names === "" ? "" : ` (${names})`}`);
  });
  return `\n\nYour own providers ('oxbow models' shows their models)\n${lines.join("\n")}`;
}

function environmentHelp(known: readonly KnownVariable[]): string {
  const width = Math.max(...known.map((variable) => variable.name.length));
  const lines = known.map((variable) => safeLine(`  ${variable.name.padEnd(width)}  ${variable.meaning}`));
  return `Environment (a flag overrides a variable, a variable overrides the profile)\n${lines.join("\n")}`;
}
