/**
 * Executable commands: `commands/NAME [ARGUMENT…]`, and `--describe` for one line of help.
 *
 * 1. The user's own folder may replace a built-in command, except those that decide what may run. A project never replaces one.
 * 2. A person runs them, so they ask for no permission; they run in the sandbox like everything else.
 */
import type { ExtensionFile } from "../../base/extension-files.js";
import { BETWEEN_TURNS, COMMAND_EXIT, type Command } from "../../feature/command.js";
import { type Chosen, chosenFiles, programName, shownPath } from "./chosen-files.js";
import type { Containment } from "./containment.js";
import { type IntrospectOptions, introspect } from "./introspect.js";
import { type ProgramResult, runProgram } from "./run-program.js";

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
/** The commands that decide what may run. */
const KEPT: ReadonlySet<string> = new Set(["ack", "verify-ack", "permissions", "safemode", "plan", "audit"]);
const MAX_BYTES = 1024 * 1024;

export interface ChooseOptions {
  readonly isBuiltIn: (name: string) => boolean;
  /** A problem with a file, one line. */
  readonly report: (problem: string) => void;
}

export function chosenCommands(
  files: readonly ExtensionFile[],
  { isBuiltIn, report }: ChooseOptions,
): readonly Chosen[] {
  return chosenFiles(files, (file) => {
    const name = programName(file);
    if (name === undefined) return undefined;
    const problem = problemOf(name, file, isBuiltIn);
    if (problem === undefined) return name;
    report(`The command ${shownPath(file)} is left out: ${problem}`);
    return undefined;
  });
}

function problemOf(name: string, { scope }: ExtensionFile, isBuiltIn: (name: string) => boolean): string | undefined {
  if (!NAME.test(name)) return "its name must begin with a letter and have only letters, digits, - and _.";
  if (KEPT.has(name)) return `"${name}" decides what may run, and cannot be replaced.`;
  if (scope === "project" && isBuiltIn(name))
    return `"${name}" is a built-in command, which only your own folder may replace.`;
  return undefined;
}

export interface CommandRun {
  readonly args: readonly string[];
  readonly input?: string;
  readonly containment: Containment;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly onMessage?: (text: string) => void;
  /** Gets the output while the program runs. */
  readonly onOutput?: (chunk: Buffer) => void;
}

export async function runCommand({ name, file }: Chosen, options: CommandRun): Promise<ProgramResult> {
  const { containment, ...rest } = options;
  const program = await file.program();
  const env = { OXBOW_COMMAND: name, OXBOW_SOURCE: file.source };
  // A program with streamed output may print more than fits into one answer.
  const maxBytes = rest.onOutput === undefined ? MAX_BYTES : 64 * MAX_BYTES;
  return runProgram({ ...rest, program, reach: "acts", env, maxBytes }, containment);
}

export interface ExecutableCommandOptions extends IntrospectOptions {
  readonly timeoutMs: number;
  readonly report: (problem: string) => void;
  readonly isBuiltIn: (name: string) => boolean;
}

export async function executableCommands(
  files: readonly ExtensionFile[],
  options: ExecutableCommandOptions,
): Promise<readonly Command[]> {
  const chosen = chosenCommands(files, options);
  return Promise.all(chosen.map((each) => commandOf(each, options)));
}

async function commandOf(chosen: Chosen, options: ExecutableCommandOptions): Promise<Command> {
  const { description } = await introspect(chosen.file, "command", options);
  return {
    name: chosen.name,
    summary: description || `the program ${chosen.file.path}`,
    arguments: [{ name: "ARGUMENT", kind: "text", optional: true, rest: "list" }],
    places: BETWEEN_TURNS,
    run: async (args, { signal, progress }) => {
      const { containment, timeoutMs } = options;
      const run = { args: args.list("ARGUMENT"), containment, timeoutMs, signal, onMessage: progress };
      return answerOf(chosen.name, await runCommand(chosen, run));
    },
  };
}

function answerOf(name: string, { status, output, errors, problem, exitCode }: ProgramResult) {
  const text = [output.trimEnd(), ...(problem === "" ? [] : [errors, `/${name} ${problem}.`])];
  return {
    text: text.filter((each) => each !== "").join("\n"),
    value: { output, exit_code: exitCode ?? null },
    ...(status !== "ok" && { exitCode: COMMAND_EXIT.failed }),
  };
}
