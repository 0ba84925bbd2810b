/** `oxbow NAME ARGUMENT…` for a program in a folder `commands/`. */

import type { Variables } from "../../base/variables.js";
import type { Chosen } from "../../extensions/executable/chosen-files.js";
import { chosenCommands, runCommand } from "../../extensions/executable/commands.js";
import type { Containment } from "../../extensions/executable/containment.js";
import { parseFlags } from "../../feature/flags.js";
import { programFlags } from "../../runtime/content/content-options.js";
import { ProjectContent } from "../../runtime/content/project-content.js";
import { withContainment } from "../../runtime/parts/containment.js";
import { loadSettings } from "../../runtime/settings/settings.js";
import { openRoot } from "../../tools/files/workspace-root.js";
import { refuseWideningFlags } from "../agent-limits.js";
import { EXIT, exitCodeOfFailure } from "../exit-codes.js";
import { printMessage } from "../print-message.js";
import { inputIsConnected, processTerminal, readInput, trustLook } from "../terminal-io.js";
import { RUN_FLAGS } from "./run-flags.js";

const TIMEOUT_MS = 3_600_000;
/** The flags that may come before the name of a program in a folder. */
const FLAGS = ["allow-project-hooks", "no-project-hooks", "sandbox"];

export interface NamedProgram {
  readonly name: string;
  readonly args: readonly string[];
  /** The flags before the name. */
  readonly flags: readonly string[];
  readonly isBuiltIn: (name: string) => boolean;
}

/** Undefined if no folder has an approved command of this name. */
export async function runExecutable(program: NamedProgram, variables: Variables): Promise<number | undefined> {
  const flags = parseFlags(
    RUN_FLAGS.filter(({ name }) => FLAGS.includes(name)),
    program.flags,
    program.name,
  );
  refuseWideningFlags(variables, flags);
  const loaded = await loadSettings(flags, variables);
  const root = await openRoot(process.cwd());
  const notes: string[] = [];
  const notify = (note: string) => void notes.push(note);
  const printNotices = () => {
    for (const note of notes.splice(0)) printMessage(note);
  };
  const content = await ProjectContent.enter({
    ...{ loaded, variables, root, notify },
    ...trustLook(processTerminal(variables)),
    skipUnapproved: program.isBuiltIn(program.name),
    ...programFlags(flags),
    kinds: new Set(["command"] as const),
  });
  if ("failure" in content) {
    printMessage(content.failure.message);
    return exitCodeOfFailure(content.failure);
  }
  const { isBuiltIn } = program;
  const found = chosenCommands(content.extensions.of("command"), { isBuiltIn, report: notify });
  const chosen = found.find(({ name }) => name === program.name);
  if (chosen === undefined && isBuiltIn(program.name)) return undefined;
  printNotices();
  if (chosen === undefined) return EXIT.failed;
  const place = { loaded, variables, root, notify: printMessage };
  return withContainment(place, (containment) => run(chosen, program.args, containment));
}

async function run(chosen: Chosen, args: readonly string[], containment: Containment): Promise<number> {
  const stopper = new AbortController();
  const stop = () => stopper.abort();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);
  const input = inputIsConnected() ? await readInput({ patient: true }) : undefined;
  // A person runs it, not a model.
  const { OXBOW_AGENT: _, ...env } = containment.env;
  const result = await runCommand(chosen, {
    args,
    containment: { ...containment, env },
    timeoutMs: TIMEOUT_MS,
    signal: stopper.signal,
    onOutput: (chunk) => void process.stdout.write(chunk),
    onMessage: (text) => void process.stderr.write(text),
    ...(input !== undefined && { input }),
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, stop);
  if (result.status === "cancelled") return EXIT.cancelled;
  if (result.problem !== "" && result.exitCode === undefined) printMessage(`${chosen.name} ${result.problem}.`);
  return result.exitCode ?? EXIT.failed;
}
