/** `oxbow NAME …` made from commands: the words and flags, the help, who may use it, and how the answer is printed. */
import { jsonText } from "../base/json-text.js";
import { paint } from "../base/terminal-style.js";
import { safeLine, safeText } from "../base/terminal-text.js";
import { truncateText } from "../base/text-width.js";
import { UsageError } from "../base/usage-error.js";
import type { Variables } from "../base/variables.js";
import type { Terminal } from "../clients/headless/terminal.js";
import { parseWords } from "../commands/arguments.js";
import { CommandRegistry } from "../commands/registry.js";
import { helpColumns, usageOf } from "../commands/usage.js";
import {
  type Command,
  type CommandContext,
  type CommandResult,
  type CommandSpec,
  inNamespace,
  mayUse,
  namespaceOf,
  type TerminalCommand,
} from "../feature/command.js";
import { type Flag, helpLines, type ParsedFlags, parseFlags } from "../feature/flags.js";
import { endProgram } from "../system/end-program.js";
import { refuseAgents } from "./agent-limits.js";
import { EXIT, exitCodeOfFailure } from "./exit-codes.js";
import { outputGuard } from "./output-guard.js";
import { printMessage } from "./print-message.js";
import { processTerminal } from "./terminal-io.js";

export interface ShellCommand {
  /** The word after `oxbow`. */
  readonly name: string;
  readonly specs: readonly CommandSpec[];
  /** The text of the help below the usage. */
  readonly about: string;
  readonly more?: string;
  /** Its commands print in their own way, so there is no `--json`. */
  readonly printsItself?: true;
  /** Makes the parts that the commands need; called after the arguments were checked. */
  open(flags: ParsedFlags, variables: Variables): Promise<ShellPlace>;
}

export interface ShellPlace {
  readonly commands: readonly Command[];
  readonly terminalCommands?: readonly TerminalCommand[];
  close?(): Promise<void> | void;
}

/** The `run` of a program command that is made from commands. */
export function shellRunner(shell: ShellCommand) {
  return (args: readonly string[], variables: Variables) => runShellCommand(shell, args, variables);
}

const SHELL = { surface: "shell" } as const;
const HELP_FLAG: Flag = { name: "help", short: "h", help: "show this help" };
const COMMON: readonly Flag[] = [{ name: "json", help: "print the result as JSON" }, HELP_FLAG];

/** The flags that every command of this kind has. */
export function commonFlags({ printsItself }: ShellCommand): readonly Flag[] {
  return printsItself ? [HELP_FLAG] : COMMON;
}

async function runShellCommand(shell: ShellCommand, args: readonly string[], variables: Variables): Promise<number> {
  const specs = new CommandRegistry<CommandSpec>().register(...shell.specs.filter(worksInShell));
  const asked = args[0] === "help" ? [...args.slice(1), "--help"] : args;
  const flags = parseFlags(flagsFor(shell, specs, asked), asked, [shell.name, ...leadingWords(asked)].join(" "));
  if (flags.has("help") || (flags.words.length === 0 && specs.find(shell.name) === undefined)) {
    process.stdout.write(helpText(shell, specs, flags.words));
    return flags.has("help") ? EXIT.answered : EXIT.usage;
  }
  const found = specs.resolve([shell.name, ...flags.words], SHELL);
  if ("failure" in found) throw new UsageError(found.failure.message);
  const spec = inNamespace(found.command, shell.name);
  if (!mayUse(spec, "agents") && !mayUse(spec, "agents in the shell"))
    refuseAgents(variables, `'oxbow ${spec.name.replaceAll(":", " ")}'`);
  const parsed = parseWords(spec, { ...flags, words: flags.words.slice(found.used - 1) }, SHELL);
  if ("failure" in parsed) throw new UsageError(parsed.failure.message);
  const place = await shell.open(flags, variables);
  try {
    const own = place.terminalCommands?.find(({ name }) => name === found.command.name);
    if (own !== undefined) return await own.take(parsed);
    const command = place.commands.find(({ name }) => name === found.command.name);
    if (command === undefined) throw new Error(`no part registers ${found.command.name}`);
    return await inTerminal(variables, flags, (context) => command.run(parsed, context));
  } finally {
    await place.close?.();
  }
}

function worksInShell({ places }: CommandSpec): boolean {
  return places.includes("without a session");
}

function leadingWords(args: readonly string[]): readonly string[] {
  const flagAt = args.findIndex((word) => word.startsWith("-"));
  return flagAt === -1 ? args : args.slice(0, flagAt);
}

/** The flags of the action that the first words name; of all actions if flags come before it. */
function flagsFor(shell: ShellCommand, specs: CommandRegistry<CommandSpec>, args: readonly string[]): readonly Flag[] {
  const found = specs.resolve([shell.name, ...leadingWords(args)], SHELL);
  const isNamed = !args[0]?.startsWith("-") && "command" in found;
  return flagsOf(shell, isNamed ? [found.command] : shell.specs);
}

function flagsOf(shell: ShellCommand, specs: readonly CommandSpec[]): readonly Flag[] {
  const all = specs.flatMap(({ flags = [], shellFlags = [] }) => [...flags, ...shellFlags]);
  return [...new Map([...all, ...commonFlags(shell)].map((flag) => [flag.name, flag])).values()];
}

async function inTerminal(
  variables: Variables,
  flags: ParsedFlags,
  run: (context: CommandContext) => CommandResult | Promise<CommandResult>,
): Promise<number> {
  const cancel = new AbortController();
  const onSignal = () => (cancel.signal.aborted ? endProgram(EXIT.cancelled) : cancel.abort());
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, onSignal);
  const terminal = processTerminal(variables);
  const status = new StatusLine(terminal);
  const screen = process.stdout.isTTY ? { width: process.stdout.columns, color: terminal.color } : undefined;
  const json = flags.has("json");
  const output = new Output();
  try {
    const result = await run({
      ...SHELL,
      signal: cancel.signal,
      progress: (message) => status.show(message),
      warn: (message) => {
        status.clear();
        printMessage(message);
      },
      write: (text) => {
        status.clear();
        return output.write(text);
      },
      ...(terminal.askLine && { confirm: (question: string) => confirm(terminal, question) }),
      edit: (text) => edit(text, variables),
      wants: json ? "value" : "text",
      ...(screen !== undefined && { screen }),
    });
    status.clear();
    return await print(result, { json, cancelled: cancel.signal.aborted, output });
  } catch (error) {
    // The guard has reported the failed write, and it sets the exit code.
    if (outputGuard().failed) return EXIT.answered;
    throw error;
  } finally {
    status.clear();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, onSignal);
  }
}

/** Standard output, at the reader's pace. */
class Output {
  /** Says whether the command has written something. */
  used = false;

  constructor() {
    // `write` reports the error; without a listener, Node would throw it as well.
    process.stdout.on("error", () => {});
  }

  write(text: string): Promise<void> {
    this.used = true;
    return new Promise((resolve, reject) => {
      process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
    });
  }
}

async function confirm({ askLine }: Terminal, question: string): Promise<boolean> {
  const line = await askLine?.(`${question} [y/N] `);
  return /^y(es)?$/i.test(line?.trim() ?? "");
}

async function edit(text: string, variables: Variables): Promise<string | undefined> {
  const { editInEditor } = await import("./external-editor.js");
  const edited = await editInEditor(text, { variables, lend: (action) => action() });
  return edited === text ? undefined : edited;
}

interface Printing {
  readonly json: boolean;
  readonly cancelled: boolean;
  readonly output: Output;
}

async function print(result: CommandResult, { json, cancelled, output }: Printing): Promise<number> {
  if ("failure" in result) {
    printMessage(result.failure.message);
    return cancelled ? EXIT.cancelled : exitCodeOfFailure(result.failure);
  }
  // What a command has written itself, such as an export, is all of its output.
  if (json && !output.used) await output.write(`${jsonText(result.value, 2)}\n`);
  else if (!json && result.text !== "") await output.write(`${safeText(result.text)}\n`);
  if (!cancelled) return result.exitCode ?? EXIT.answered;
  printMessage("cancelled.");
  return EXIT.cancelled;
}

function helpText(shell: ShellCommand, specs: CommandRegistry<CommandSpec>, words: readonly string[]): string {
  const isNamespace = specs.list().some(({ name }) => namespaceOf(name) !== undefined);
  if (words.length > 0 || !isNamespace) return commandHelp(shell, specs, { words, isNamespace });
  const lines = specs.list().map((spec) => {
    const usage = usageOf({ ...inNamespace(spec, shell.name), flags: [], shellFlags: [] }, SHELL);
    const typed = usage.slice("oxbow ".length).replace(/ \[flags\]$/, "");
    return {
      usage: typed.startsWith(`${shell.name} `) ? typed.slice(shell.name.length + 1) : typed,
      summary: spec.summary,
    };
  });
  const hasDefault = specs.find(shell.name) !== undefined;
  const more = shell.more === undefined ? "" : `\n${shell.more}\n`;
  return `Usage: oxbow ${shell.name} ${hasDefault ? "[ACTION]" : "ACTION"}

${shell.about}

${helpColumns(lines, "  ")}

${helpLines(sharedFlags(shell, specs.list()))}
${more}
'oxbow ${shell.name} ACTION --help' shows the flags of an action.
`;
}

function commandHelp(
  shell: ShellCommand,
  specs: CommandRegistry<CommandSpec>,
  { words, isNamespace }: { readonly words: readonly string[]; readonly isNamespace: boolean },
): string {
  const found = specs.resolve([shell.name, ...words], SHELL);
  if ("failure" in found) throw new UsageError(found.failure.message);
  const command = inNamespace(found.command, shell.name);
  const about = isNamespace ? sentence(command.summary) : shell.about;
  const more = isNamespace || shell.more === undefined ? "" : `\n${shell.more}\n`;
  return `Usage: ${usageOf(command, SHELL)}\n\n${about}\n\n${helpLines(flagsOf(shell, [command]))}\n${more}`;
}

/** The flags that every action takes. */
function sharedFlags(shell: ShellCommand, specs: readonly CommandSpec[]): readonly Flag[] {
  return flagsOf(shell, specs).filter((flag) => specs.every((spec) => flagsOf(shell, [spec]).includes(flag)));
}

function sentence(summary: string): string {
  return `${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}.`;
}

class StatusLine {
  readonly #terminal: Terminal;
  #visible = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Does nothing without a terminal. */
  show(message: string): void {
    if (!this.#terminal.err.isTerminal || !this.#terminal.showProgress) return;
    const line = truncateText(safeLine(message), Math.max(20, (process.stderr.columns ?? 80) - 1));
    this.#terminal.err.write(`\r\u001b[K${paint(this.#terminal, "dim", line)}`);
    this.#visible = true;
  }

  clear(): void {
    if (this.#visible) this.#terminal.err.write("\r\u001b[K");
    this.#visible = false;
  }
}
