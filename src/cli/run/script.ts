/** `oxbow --run SCRIPT`: commands and prompts from a file, one a line, in one session. */
import { isBinary } from "../../base/text-or-binary.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { runRepl } from "../../clients/headless/repl.js";
import { type ScriptLine, ScriptLines, scriptLines } from "../../clients/headless/script-lines.js";
import type { Terminal } from "../../clients/headless/terminal.js";
import type { MediaBlock } from "../../protocol/content.js";
import type { SessionId } from "../../protocol/ids.js";
import { readGivenFile } from "../../system/given-file.js";
import { clientAction } from "../client-actions.js";
import { EXIT, exitCodeOfProblem } from "../exit-codes.js";
import { ownShell } from "../own-shell.js";
import { stopOnSignals } from "../stop-signals.js";
import { readBytes } from "../terminal-io.js";
import type { Conversation } from "./prepare.js";

export interface Script {
  readonly name: string;
  readonly lines: readonly ScriptLine[];
}

/** `-` is standard input. It is read to its end before the first line runs. */
export async function readScript(path: string): Promise<Script> {
  if (path === "") throw new UsageError("--run needs the name of a script, or '-' for standard input.");
  const name = path === "-" ? "standard input" : path;
  const bytes = path === "-" ? ((await readBytes({ patient: true }))?.bytes ?? Buffer.alloc(0)) : await file(path);
  if (isBinary(bytes)) throw new UsageError(`--run: ${name} is binary, not a script.`);
  const lines = scriptLines(bytes.toString("utf8"));
  if (lines.length === 0) throw new UsageError(`--run: there is no command and no prompt in ${name}.`);
  return { name, lines };
}

async function file(path: string): Promise<Buffer> {
  try {
    return await readGivenFile(path);
  } catch (error) {
    throw new UsageError(`--run: ${(error as Error).message.replace(/\.?$/, ".")}`);
  }
}

export interface ScriptRun {
  readonly prepared: Pick<Conversation, "client" | "clock" | "loaded">;
  readonly variables: Variables;
  readonly session: SessionId;
  readonly media: readonly MediaBlock[];
  readonly terminal: Terminal;
  readonly stopAtProblem: boolean;
  readonly verbose: boolean;
}

/** Its exit code is that of the first line that failed. */
export async function runLines(script: Script, run: ScriptRun): Promise<number> {
  const { prepared, variables, session, media, terminal, stopAtProblem, verbose } = run;
  const echo = terminal.showProgress ? (text: string) => terminal.err.write(text) : undefined;
  const lines = new ScriptLines(script.lines, echo);
  const leaving = new AbortController();
  const stop = stopOnSignals(() => leaving.abort());
  const { clock, client, loaded } = prepared;
  const problem = await runRepl({
    ...{ client, session, terminal, lines, media, clientAction, stopAtProblem },
    clock,
    verbose,
    greeting: "",
    leaving: leaving.signal,
    input: "script",
    shell: ownShell(variables, loaded.settings.run_timeout),
  });
  if (stop.asked) return EXIT.cancelled;
  if (problem === undefined) return EXIT.answered;
  if (stopAtProblem) {
    const rest = lines.left === 0 ? "" : " The lines after it did not run.";
    terminal.err.write(`oxbow: line ${lines.number} of ${script.name} failed.${rest}\n`);
  }
  return exitCodeOfProblem(problem);
}
