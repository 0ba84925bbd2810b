/**
 * The program without a process of its own, for what only prints and ends: starting one takes most of the time of such a test. What runs a
 * turn, reads standard input or handles signals needs `oxbow` of program.ts.
 */
import { tmpdir } from "node:os";
import { Readable } from "node:stream";
import { main } from "../../src/cli/command-table.js";
import { NO_LOCAL_SERVERS, type ProgramOptions, type ProgramResult, temporaryFolder } from "./program.js";

export type HereResult = Pick<ProgramResult, "code" | "stdout" | "stderr">;

/** One at a time: output and working folder belong to the process. */
export async function oxbowHere(
  args: readonly string[],
  options: Pick<ProgramOptions, "cwd" | "env"> = {},
): Promise<HereResult> {
  const home = options.env?.OXBOW_HOME ?? (await temporaryFolder());
  const before = process.cwd();
  process.chdir(options.cwd ?? (await temporaryFolder()));
  const stdin = emptyInput();
  const stdout = capture(process.stdout);
  const stderr = capture(process.stderr);
  const basics = { PATH: process.env.PATH ?? "", TMPDIR: tmpdir(), HOME: home, OXBOW_HOME: home };
  try {
    const code = await main(args, { ...basics, ...NO_LOCAL_SERVERS, ...options.env });
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    stdin.restore();
    stdout.restore();
    stderr.restore();
    process.chdir(before);
  }
}

/** The real one is a pipe that no one writes to: the program would wait for it. */
function emptyInput() {
  const own = Object.getOwnPropertyDescriptor(process, "stdin");
  Object.defineProperty(process, "stdin", { value: Readable.from([]), configurable: true });
  return {
    restore() {
      if (own !== undefined) Object.defineProperty(process, "stdin", own);
    },
  };
}

function capture(stream: NodeJS.WriteStream) {
  const { write } = stream;
  const listeners = stream.listeners("error");
  let text = "";
  stream.write = ((piece: string | Uint8Array, ...rest: readonly unknown[]) => {
    text += typeof piece === "string" ? piece : Buffer.from(piece).toString();
    const done = rest.at(-1);
    if (typeof done === "function") process.nextTick(done as () => void);
    return true;
  }) as typeof stream.write;
  return {
    text: () => text,
    restore() {
      stream.write = write;
      const added = stream.listeners("error").filter((each) => !listeners.includes(each));
      for (const listener of added) stream.off("error", listener as () => void);
    },
  };
}
