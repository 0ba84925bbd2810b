/**
 * Runs a command on a pseudo-terminal, for programs that behave differently without one: through the optional package
 * `@lydell/node-pty`, else through util-linux's `script`.
 *
 * No user sits at that terminal, so Oxbow sends one end-of-file in advance: a prompt reads it and ends instead of waiting.
 */
import { existsSync } from "node:fs";
import { shellWord } from "../base/shell-word.js";
import {
  type Exit,
  type Launch,
  type Launched,
  type ProcessRequest,
  SpawnError,
  startOnPipes,
  withoutInherited,
} from "./process-launch.js";
import { signalName } from "./signal-name.js";

const COLUMNS = 120;
const ROWS = 40;
const END_OF_FILE = "\x04";
const SCRIPT_PROGRAM = "/usr/bin/script";
/**
 * Runs a shell as the first process of a terminal's session: when that process exits, Linux drops output that it has not passed on yet. it
 * waits for the command, and then a moment longer.
 */
const OUTLIVE_COMMAND = '"$@"; code=$?; sleep 0.02; exit $code';

/** The part of the package that is used here. It is optional, so its own types cannot be imported. */
interface TerminalPackage {
  spawn(
    program: string,
    args: string[],
    options: {
      name: string;
      cols: number;
      rows: number;
      cwd: string;
      env: Record<string, string>;
      encoding: null;
    },
  ): Terminal;
}

interface Terminal {
  readonly pid: number;
  onData(listener: (data: unknown) => void): unknown;
  onExit(listener: (exit: { exitCode: number; signal?: number }) => void): unknown;
  write(data: string): void;
}

export type TerminalPackageLoader = () => Promise<unknown>;

/** Typed as `string`, so that neither the compiler nor a bundler resolves the package. */
const PACKAGE_NAME: string = "@lydell/node-pty";

/** Tells how to get a terminal on this machine; undefined if there is no way. */
export async function findTerminal(
  load: TerminalPackageLoader = () => import(PACKAGE_NAME),
): Promise<Launch | undefined> {
  const found = await load().catch(() => undefined);
  if (isTerminalPackage(found)) return (request) => launchOnTerminal(request, found);
  if (process.platform === "linux" && existsSync(SCRIPT_PROGRAM)) return launchWithScript;
  return undefined;
}

function isTerminalPackage(value: unknown): value is TerminalPackage {
  return typeof (value as { spawn?: unknown } | undefined)?.spawn === "function";
}

async function launchOnTerminal(request: ProcessRequest, terminals: TerminalPackage): Promise<Launched> {
  const argv = withoutInherited(request);
  let terminal: Terminal;
  try {
    terminal = terminals.spawn("/bin/sh", ["-c", OUTLIVE_COMMAND, "sh", ...argv], {
      name: request.env.TERM ?? "xterm",
      cols: COLUMNS,
      rows: ROWS,
      cwd: request.cwd,
      env: { ...request.env },
      encoding: null,
    });
  } catch (error) {
    throw new SpawnError(`${argv[0]} could not be started on a terminal: ${(error as Error).message}`, "PTY");
  }
  let finished = false;
  let exitedAlready = false;
  terminal.onData((data) => {
    if (!finished) request.onOutput(Buffer.isBuffer(data) ? data : Buffer.from(String(data)));
  });
  // The package reports the exit after the last output.
  const exited = new Promise<Exit>((resolve) => {
    terminal.onExit(({ exitCode, signal }) => {
      exitedAlready = true;
      resolve(signal ? { code: undefined, signal: signalName(signal) } : { code: exitCode, signal: undefined });
    });
  });
  terminal.write(END_OF_FILE);
  return {
    pid: terminal.pid,
    exited,
    outputEnded: () => exitedAlready,
    outputEnd: exited.then(() => {}),
    drain() {},
    close() {
      finished = true;
    },
  };
}

const launchWithScript: Launch = (request) => {
  const { SHELL } = request.env;
  // `script` uses the shell in the environment; the command itself must see the user's.
  const shell = SHELL === undefined ? "unset SHELL" : `export SHELL=${shellWord(SHELL)}`;
  const words = request.argv.map(shellWord).join(" ");
  const command = `${shell}; stty cols ${COLUMNS} rows ${ROWS} 2>/dev/null; set -- ${words}; ${OUTLIVE_COMMAND}`;
  return startOnPipes({
    ...request,
    argv: [SCRIPT_PROGRAM, "-qefc", command, "/dev/null"],
    env: { ...request.env, SHELL: "/bin/sh" },
  });
};
