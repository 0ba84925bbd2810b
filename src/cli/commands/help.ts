/** `oxbow help`: all commands of the program, or one of them; each command explains itself. */
import { nearest } from "../../base/nearest.js";
import { safeLine } from "../../base/terminal-text.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { VERSION } from "../../base/version.js";
import type { CommandContext, CommandResult } from "../../feature/command.js";
import { helpLines, parseFlags } from "../../feature/flags.js";
import { programSummary } from "../../runtime/commands/catalogue.js";
import type { Found, FoundCommand } from "../../runtime/commands/found-here.js";
import { HELP } from "../../runtime/commands/specs.js";
import type { OwnProvider } from "../../runtime/models/model-registry.js";
import type { LoadedSettings } from "../../runtime/settings/settings.js";
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
  const loaded = await settingsOf(variables, context.warn);
  if (topic === undefined) {
    const found = await foundIn(loaded, variables);
    const { shown, value } = commandLines(found.commands);
    return {
      text: generalHelp(shown) + foundHelp(found) + providersHelp(await ownProviders(loaded, variables)),
      value,
    };
  }
  if (topic === "environment") {
    const own = (await ownProviders(loaded, variables)).flatMap(({ variables: named }) => named);
    // Variants of one provider program read the same variables.
    const named = new Map(own.map(({ name, description }) => [name, { name, meaning: description }]));
    const known = [...KNOWN_VARIABLES, ...named.values()];
    return { text: environmentHelp(known), value: known.map((variable) => ({ ...variable })) };
  }
  const command = COMMANDS.find(({ name, aliases }) => name === topic || aliases?.includes(topic));
  const own = (await foundIn(loaded, variables)).commands.find(({ name }) => name === topic);
  if (own !== undefined) return { text: ownHelp(own, command !== undefined), value: { ...own } };
  if (command === undefined) throw new UsageError(unknownTopic(topic));
  const { name, aliases = [] } = command;
  if (context.wants !== "value") await (await command.load()).run([...rest, "--help"], variables);
  return { text: "", value: { name, aliases, summary: programSummary(name) } };
}

/** Undefined if they are wrong, which is said: people read the help to repair them. */
async function settingsOf(variables: Variables, warn: (message: string) => void): Promise<LoadedSettings | undefined> {
  const { loadSettings } = await import("../../runtime/settings/settings.js");
  try {
    return await loadSettings(parseFlags([], [], "help"), variables);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    warn(error.message);
    return undefined;
  }
}

function unknownTopic(topic: string): string {
  const near = nearest(topic, [...COMMANDS.map(({ name }) => name), "environment"]);
  const advice = near === undefined ? "'oxbow --help' lists the commands." : `Did you mean 'oxbow help ${near}'?`;
  return `There is no command '${topic}'. ${advice}`;
}

/** Tells what Oxbow finds in the folders of this place: programs, skills, instructions … */
async function foundIn(loaded: LoadedSettings | undefined, variables: Variables): Promise<Found> {
  if (loaded === undefined) return { commands: [], lines: [] };
  const [{ foundHere }, { openRoot }] = await Promise.all([
    import("../../runtime/commands/found-here.js"),
    import("../../tools/files/workspace-root.js"),
  ]);
  return foundHere({ loaded, variables, root: await openRoot(process.cwd()) }, isBuiltIn);
}

function isBuiltIn(word: string): boolean {
  return COMMANDS.some(({ name, aliases }) => name === word || aliases?.includes(word));
}

function foundHelp({ lines }: Found): string {
  if (lines.length === 0) return "";
  return `\n\nFound here ('oxbow sources' shows the folders and what waits for approval)\n${lines.map((line) => `  ${line}`).join("\n")}`;
}

/** A command of your own folder stands where it replaces a built-in one; the others follow. */
function commandLines(own: readonly FoundCommand[]) {
  const yours = ({ about, path }: FoundCommand) => `${about || "a program"} (${path})`;
  const value = COMMANDS.map(({ name, aliases = [] }) => {
    const replaced = own.find((each) => each.name === name);
    return { name, aliases, summary: replaced === undefined ? programSummary(name) : yours(replaced) };
  });
  const added = own.filter(({ name }) => !COMMANDS.some((each) => each.name === name));
  const all = [...value, ...added.map((each) => ({ name: each.name, aliases: [], summary: yours(each) }))];
  return { value: all, shown: all.map(({ name, summary }) => [name, summary] as const) };
}

function ownHelp({ name, about, path }: FoundCommand, replaces: boolean): string {
  const also = replaces ? " It replaces the built-in command." : "";
  return `oxbow ${name} ARGUMENT…: ${about || "a program without a description"}\nThe program ${path}; all words after its name are its own.${also}`;
}

function generalHelp(shown: readonly (readonly [name: string, summary: string])[]): string {
  const width = Math.max(...shown.map(([name]) => name.length));
  const commands = shown.map(([name, summary]) => `  ${name.padEnd(width)}  ${summary}`).join("\n");
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
async function ownProviders(loaded: LoadedSettings | undefined, variables: Variables): Promise<readonly OwnProvider[]> {
  if (loaded === undefined) return [];
  const { createModelRegistry } = await import("../../runtime/models/model-registry.js");
  const { settings, roots, profilePath } = loaded;
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
