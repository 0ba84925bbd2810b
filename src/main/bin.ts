/**
 * The program's first file: refuses a Node that is too old, answers `--version` without loading anything, then runs the command table.
 * It and what it imports statically keep to syntax that Node 14 can parse: a parse error would hide the sentence about the version.
 */
import { readFileSync } from "node:fs";
import { isatty } from "node:tty";
import { showsUtf8 } from "../base/locale.js";
import { LEAST_NODE, VERSION } from "../base/version.js";
import { environment } from "./env.js";

/** The files that a run with shells, sandbox and database has open at once, with a margin. */
const LEAST_OPEN_FILES = 64;

/** Keeps `process.exit`, which refuses where plugins run. An import of `endProgram` would make every start load the chunk that it is in. */
const exit = process.exit.bind(process);

const [first] = process.argv.slice(2);
if (rank(process.versions.node) < rank(LEAST_NODE)) {
  process.stderr.write(
    `oxbow: Node.js ${LEAST_NODE} or newer is needed, and this is ${process.versions.node} (${process.execPath}). Install a newer one: nodejs.org\n`,
  );
  process.exitCode = 2;
} else if (first === "--version" || first === "-V") {
  process.stdout.on("error", () => process.exit(1));
  process.stdout.write(`oxbow ${VERSION}\n`);
} else {
  void run();
}

async function run(): Promise<void> {
  endWithTheTerminal();
  process.on("uncaughtException", (error) => fail(error));
  const most = openFilesLimit();
  if (most < LEAST_OPEN_FILES) {
    process.stderr.write(
      `oxbow: the limit of open files is ${most}, and Oxbow needs ${LEAST_OPEN_FILES}. Raise the limit: ulimit -n 1024\n`,
    );
    process.exit(1);
  }
  const variables = environment();
  if (!showsUtf8(variables)) (await import("../cli/ascii-output.js")).writeAscii([process.stdout, process.stderr]);
  const { main, outputGuard } = await import("../cli/command-table.js");
  const output = outputGuard();
  const code = await main(process.argv.slice(2), variables);
  // A tool or server that did not stop must not keep the program alive, but its output must still arrive.
  // A failed write is reported after its callback.
  process.stdout.write("", () => setImmediate(() => exit(output.exitCode(code))));
}

/** Node 20 aborts with a core dump when it ends after its terminal was closed. The signal of the closed terminal ends it instead. */
function endWithTheTerminal(): void {
  const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));
  process.on("exit", () => {
    if (terminals.every((descriptor) => isatty(descriptor))) return;
    process.removeAllListeners("SIGHUP");
    process.kill(process.pid, "SIGHUP");
    // It may be ignored (nohup).
    process.kill(process.pid, "SIGKILL");
  });
}

function rank(version: string): number {
  return version.split(".").reduce((total, part) => total * 1000 + Number(part), 0);
}

/** An uncaught error is a bug; the user gets a sentence, not a stack trace. */
function fail(error: unknown): void {
  const words = error instanceof Error ? error.message : String(error);
  const stack = process.argv.includes("--verbose") && error instanceof Error ? `${error.stack}\n` : "";
  process.stderr.write(`oxbow: a bug in Oxbow: ${words}\n${stack}`);
  exit(1);
}

/** On Linux a file has the limit; reading it is the cheapest way. */
function openFilesLimit(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
