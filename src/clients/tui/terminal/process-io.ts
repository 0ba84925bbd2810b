/** The terminal of a real process. */
import { writeSync } from "node:fs";
import { asciiText, unruledText } from "../../../base/ascii-text.js";
import { systemClock } from "../../../base/clock.js";
import { showsUtf8 } from "../../../base/locale.js";
import type { Variables } from "../../../base/variables.js";
import type { TerminalIo } from "./terminal-io.js";
import { startWatcher } from "./watcher.js";

const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;
const MOST_REFUSALS = 100;
const WRITE_PAUSE_MS = 5;

export interface ProcessIoOptions {
  readonly process: NodeJS.Process;
  readonly variables: Variables;
  /** For a screen reader: no borders, rules or bars. */
  readonly isLinear?: boolean;
}

export function processIo({ process, variables, isLinear = false }: ProcessIoOptions): TerminalIo {
  const { stdin, stdout } = process;
  const inLocale = showsUtf8(variables) ? (text: string) => text : asciiText;
  const shown = isLinear ? (text: string) => inLocale(unruledText(text)) : inLocale;
  let isTaken = false;
  return {
    variables,
    clock: systemClock,
    size: () => sizeOf(stdout),
    onResize: (listener) => subscribe(stdout, ["resize"], listener),
    take(onBytes) {
      const release = take(process, onBytes);
      isTaken = true;
      return () => {
        isTaken = false;
        release();
      };
    },
    write: (text, written) => void stdout.write(shown(text), written === undefined ? undefined : () => written()),
    writeNow(text) {
      if (text === "") return;
      if (!isTaken) setBlocking(stdout, "off");
      writeNow(stdout, shown(text));
      if (!isTaken) setBlocking(stdout, "on");
    },
    onLost(listener) {
      const ends = [
        subscribe(stdin, ["end", "close", "error"], listener),
        subscribe(stdout, ["error", "close"], listener),
      ];
      return () => {
        for (const end of ends) end();
        // A later error must not end the process.
        stdin.on("error", () => {});
        stdout.on("error", () => {});
      };
    },
    onSignal: (signal, listener) => subscribe(process, [signal], listener),
    onExit: (listener) => subscribe(process, ["exit", "uncaughtExceptionMonitor"], listener),
    stop() {
      if (process.platform !== "win32") process.kill(0, "SIGTSTP");
    },
    ...(process.platform === "win32"
      ? {}
      : { startWatcher: () => startWatcher({ input: stdin.fd, output: stdout.fd }) }),
  };
}

function sizeOf(stdout: NodeJS.WriteStream): { columns: number; rows: number } {
  const [columns, rows] = readSize(stdout);
  return { columns: columns || DEFAULT_COLUMNS, rows: rows || DEFAULT_ROWS };
}

function readSize(stdout: NodeJS.WriteStream): [number, number] {
  try {
    return stdout.getWindowSize();
  } catch {
    return [stdout.columns, stdout.rows];
  }
}

function take({ stdin, stdout }: NodeJS.Process, onBytes: (bytes: Buffer) => void): () => void {
  setBlocking(stdout, "off");
  stdin.setRawMode?.(true);
  stdin.on("data", onBytes);
  stdin.resume();
  return () => {
    stdin.off("data", onBytes);
    stdin.pause();
    try {
      stdin.setRawMode?.(false);
    } catch {
      // The terminal is closed.
    }
    setBlocking(stdout, "on");
  };
}

/** Node blocks the whole process while a terminal accepts no output. The client must not wait for a slow connection. */
function setBlocking(stdout: NodeJS.WriteStream, state: "on" | "off"): void {
  const { _handle: handle } = stdout as { _handle?: { setBlocking?(isBlocking: boolean): void } };
  handle?.setBlocking?.(state === "on");
}

/** Gives up if the terminal accepts no output for a while: the process must be able to end. */
function writeNow({ fd }: { readonly fd: number }, text: string): void {
  let rest = Buffer.from(text, "utf8");
  let refusals = 0;
  while (rest.length > 0 && refusals < MOST_REFUSALS) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
      refusals = 0;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return;
      refusals++;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WRITE_PAUSE_MS);
    }
  }
}

interface Emitter {
  on(event: string, listener: () => void): unknown;
  off(event: string, listener: () => void): unknown;
}

function subscribe(emitter: Emitter, events: readonly string[], listener: () => void): () => void {
  const called = () => listener();
  for (const event of events) emitter.on(event, called);
  return () => {
    for (const event of events) emitter.off(event, called);
  };
}
