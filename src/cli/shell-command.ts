/** `oxbow NAME …` made from commands: the words and flags, the help, who may use it, and how the answer is printed. */
import { safeText } from "../base/terminal-text.js";
import { UsageError } from "../base/usage-error.js";
import type { Variables } from "../base/variables.js";
import { parseWords } from "../commands/arguments.js";
import {
  type Command,
  type CommandContext,
  type CommandResult,
  type CommandSpec,
  namespaceOf,
} from "../commands/command.js";
import { type Flag, helpLines, type ParsedFlags, parseFlags } from "../commands/flags.js";
import { CommandRegistry } from "../commands/registry.js";
import { helpColumns, usageOf } from "../commands/usage.js";
import { refuseAgents } from "../runtime/agent-limits.js";
import { EXIT, exitCodeOfFailure } from "./exit-codes.js";
import { StatusLine } from "./status-line.js";
import { processTerminal } from "./terminal-io.js";

export interface ShellCommand {
  /** The word after `oxbow`. */
  readonly name: string;
  readonly specs: readonly CommandSpec[];
  /** What the help says below the usage. */
  readonly about: string;
  readonly more?: string;
  /** Makes the parts that the commands work on; called when the words are known to be right. */
  open(flags: ParsedFlags, variables: Variables): Promise<ShellPlace>;
}

export interface ShellPlace {
  readonly commands: readonly Command[];
  close?(): Promise<void> | void;
}

const SHELL = { surface: "shell" } as const;
const COMMON: readonly Flag[] = [
  { name: "json", help: "print the result as JSON" },
  { name: "help", short: "h", help: "show this help" },
];

export async function runShellCommand(
  shell: ShellCommand,
  args: readonly string[],
  variables: Variables,
): Promise<number> {
  const specs = new CommandRegistry<CommandSpec>().register(...shell.specs.filter(worksInShell));
  const flags = parseFlags(flagsOf(shell.specs), args, shell.name);
  if (flags.has("help")) {
    process.stdout.write(helpText(shell, specs, flags.words));
    return EXIT.answered;
  }
  const found = specs.resolve([shell.name, ...flags.words], SHELL);
  if ("failure" in found) throw new UsageError(found.failure.message);
  const { command: spec, used } = found;
  if (!spec.users.some((user) => user !== "people"))
    refuseAgents(variables, `'oxbow ${spec.name.replaceAll(":", " ")}'`);
  const parsed = parseWords(spec, { ...flags, words: flags.words.slice(used - 1) }, SHELL);
  if ("failure" in parsed) throw new UsageError(parsed.failure.message);
  const place = await shell.open(flags, variables);
  try {
    const command = place.commands.find(({ name }) => name === spec.name);
    if (command === undefined) throw new Error(`no part registers ${spec.name}`);
    return await inTerminal(variables, flags, (context) => command.run(parsed, context));
  } finally {
    await place.close?.();
  }
}

function worksInShell({ places }: CommandSpec): boolean {
  return places.includes("without a session");
}

/** The flags of all actions: they may stand before the action's name. */
function flagsOf(specs: readonly CommandSpec[]): readonly Flag[] {
  const all = specs.flatMap(({ flags = [], shellFlags = [] }) => [...flags, ...shellFlags]);
  return [...new Map([...all, ...COMMON].map((flag) => [flag.name, flag])).values()];
}

async function inTerminal(
  variables: Variables,
  flags: ParsedFlags,
  run: (context: CommandContext) => CommandResult | Promise<CommandResult>,
): Promise<number> {
  const cancel = new AbortController();
  const onSignal = () => (cancel.signal.aborted ? process.exit(EXIT.cancelled) : cancel.abort());
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, onSignal);
  const terminal = processTerminal(variables);
  const status = new StatusLine(terminal);
  const screen = process.stdout.isTTY ? { width: process.stdout.columns, color: terminal.color } : undefined;
  try {
    const result = await run({
      ...SHELL,
      signal: cancel.signal,
      progress: (message) => status.show(message),
      ...(screen !== undefined && { screen }),
    });
    status.clear();
    return print(result, { json: flags.has("json"), cancelled: cancel.signal.aborted });
  } finally {
    status.clear();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, onSignal);
  }
}

function print(result: CommandResult, how: { readonly json: boolean; readonly cancelled: boolean }): number {
  if ("failure" in result) {
    process.stderr.write(`oxbow: ${safeText(result.failure.message)}\n`);
    return how.cancelled ? EXIT.cancelled : exitCodeOfFailure(result.failure);
  }
  process.stdout.write(`${how.json ? JSON.stringify(result.value, null, 2) : safeText(result.text)}\n`);
  if (!how.cancelled) return result.exitCode ?? EXIT.answered;
  process.stderr.write("oxbow: cancelled.\n");
  return EXIT.cancelled;
}

function helpText(shell: ShellCommand, specs: CommandRegistry<CommandSpec>, words: readonly string[]): string {
  const isNamespace = specs.list().some(({ name }) => namespaceOf(name) !== undefined);
  if (words.length > 0 || !isNamespace) {
    const found = specs.resolve([shell.name, ...words], SHELL);
    if ("failure" in found) throw new UsageError(found.failure.message);
    const { command } = found;
    const about = isNamespace ? sentence(command.summary) : shell.about;
    const more = isNamespace || shell.more === undefined ? "" : `\n${shell.more}\n`;
    return `Usage: ${usageOf(command, SHELL)}\n\n${about}\n\n${helpLines(flagsOf([command]))}\n${more}`;
  }
  const lines = specs.list().map((spec) => {
    const usage = usageOf({ ...spec, shellFlags: [] }, SHELL).slice("oxbow ".length);
    return {
      usage: usage.startsWith(`${shell.name} `) ? usage.slice(shell.name.length + 1) : usage,
      summary: spec.summary,
    };
  });
  const more = shell.more === undefined ? "" : `\n${shell.more}\n`;
  return `Usage: oxbow ${shell.name} [ACTION]\n\n${shell.about}\n\n${helpColumns(lines, "  ")}\n\n${helpLines(flagsOf(shell.specs))}\n${more}`;
}

function sentence(summary: string): string {
  return `${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}.`;
}
