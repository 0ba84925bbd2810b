/**
 * The program without a process of its own. One run at a time: output, input and the working folder belong to the process.
 */
import { Readable } from "node:stream";
import { onTestFinished } from "vitest";
import { main } from "../../src/cli/command-table.js";
import { type ProgramOptions, type ProgramResult, programPlace } from "./program-options.js";

export async function oxbowHere(
  args: readonly string[],
  options: Pick<ProgramOptions, "cwd" | "env" | "input"> = {},
): Promise<ProgramResult> {
  const { home, cwd, env } = await programPlace(options);
  const before = process.cwd();
  process.chdir(cwd);
  const stdin = replaceInput(options.input ?? "");
  const stdout = capture(process.stdout);
  const stderr = capture(process.stderr);
  const signals = rememberListeners();
  const restore = () => {
    signals.restore();
    stdin.restore();
    stdout.restore();
    stderr.restore();
    process.chdir(before);
  };
  atEndOfTest(restore);
  try {
    const code = await main(args, env);
    return { code, signal: null, stdout: stdout.text(), stderr: stderr.text(), home };
  } finally {
    restore();
  }
}

/** A test that is over its time ends before the program does. Outside of a test (beforeAll) there is no such end. */
function atEndOfTest(restore: () => void): void {
  try {
    onTestFinished(restore);
  } catch {}
}

/** The program leaves its listeners to the end of its process. */
function rememberListeners() {
  const events = ["SIGINT", "SIGTERM", "SIGHUP", "SIGCONT"] as const;
  const before = events.map((event) => process.listeners(event));
  return {
    restore() {
      events.forEach((event, index) => {
        for (const listener of process.listeners(event)) {
          if (before[index]?.includes(listener) !== true) process.off(event, listener);
        }
      });
    },
  };
}

/** The real one is a pipe that no one writes to: the program would wait for it. */
function replaceInput(text: string) {
  const own = Object.getOwnPropertyDescriptor(process, "stdin");
  Object.defineProperty(process, "stdin", {
    value: Readable.from(text === "" ? [] : [Buffer.from(text)]),
    configurable: true,
  });
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
