/** Programs in `commands/` as commands of a session: `/NAME ARGUMENT…`. */
import type { ExtensionFile } from "../../base/extension-files.js";
import { SESSION_SPECS } from "../../commands/catalogue/index.js";
import { COMMAND_EXIT, type Command, namespaceOf } from "../../commands/command.js";
import type { Chosen } from "../../extensions/executable/chosen-files.js";
import { chosenCommands, runCommand } from "../../extensions/executable/commands.js";
import { type IntrospectOptions, introspect } from "../../extensions/executable/introspect.js";
import type { ProgramResult } from "../../extensions/executable/run-program.js";

export interface ExecutableCommandOptions extends IntrospectOptions {
  readonly timeoutMs: number;
  readonly report: (problem: string) => void;
}

export async function executableCommands(
  files: readonly ExtensionFile[],
  options: ExecutableCommandOptions,
): Promise<readonly Command[]> {
  const chosen = chosenCommands(files, { isBuiltIn: isSessionCommand, report: options.report });
  return Promise.all(chosen.map((each) => commandOf(each, options)));
}

/** By the first word of its name or of an alias. */
export function isSessionCommand(name: string): boolean {
  return SESSION_SPECS.some((spec) =>
    [spec.name, ...(spec.aliases ?? [])].some((each) => (namespaceOf(each) ?? each) === name),
  );
}

async function commandOf(chosen: Chosen, options: ExecutableCommandOptions): Promise<Command> {
  const { description } = await introspect(chosen.file, "command", options);
  return {
    name: chosen.name,
    summary: description || `the program ${chosen.file.path}`,
    arguments: [{ name: "ARGUMENT", kind: "text", optional: true, rest: "list" }],
    reaches: "user",
    users: ["people"],
    places: ["between turns"],
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
