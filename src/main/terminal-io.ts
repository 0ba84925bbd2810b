/** The process's own streams as the plain clients want them. */
import { fstatSync } from "node:fs";
import type { LineSource } from "../clients/headless/repl.js";
import type { Terminal } from "../clients/headless/terminal.js";
import type { Variables } from "./env.js";

/** With a prompt given, silence on a pipe this long means nobody is going to write to it. */
const FIRST_BYTE_MS = 2000;

export function processTerminal(variables: Variables): Terminal {
  const errIsTerminal = process.stderr.isTTY === true;
  const stream = variables.OXBOW_STREAM;
  const color = errIsTerminal && !variables.NO_COLOR && variables.TERM !== "dumb";
  const terminal: Terminal = {
    out: { isTerminal: process.stdout.isTTY === true, write: (text) => void process.stdout.write(text) },
    err: { isTerminal: errIsTerminal && variables.TERM !== "dumb", write: (text) => void process.stderr.write(text) },
    showProgress: stream === "0" ? false : errIsTerminal || stream === "1",
    color,
  };
  return personPresent() ? { ...terminal, askLine } : terminal;
}

/** Someone who can see a question and type an answer. */
export function personPresent(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

async function askLine(question: string, signal?: AbortSignal): Promise<string | undefined> {
  const { createInterface } = await import("node:readline");
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    reader.on("close", () => resolve(undefined));
    // In raw mode the terminal hands Ctrl-C to readline; it must still reach whoever cancels the turn.
    reader.on("SIGINT", () => process.emit("SIGINT"));
    signal?.addEventListener("abort", () => reader.close(), { once: true });
    reader.question(question, (line) => {
      resolve(line);
      reader.close();
    });
  });
}

/** Lines typed by a person, or read from a pipe. */
export async function processLines(): Promise<LineSource & { close(): void }> {
  const { createInterface } = await import("node:readline");
  const interactive = process.stdin.isTTY === true;
  const interrupts = new Set<() => void>();
  const onSignal = () => {
    for (const action of interrupts) action();
  };
  process.on("SIGINT", onSignal);
  const history: string[] = [];
  // Piped lines are read once and kept: a reader that is closed between lines would lose what it had buffered.
  const piped = interactive ? undefined : pipedLines(createInterface({ input: process.stdin }));
  return {
    next(prompt) {
      if (piped !== undefined) return piped.next();
      const reader = createInterface({ input: process.stdin, output: process.stderr, history, historySize: 500 });
      return new Promise((resolve) => {
        let interrupted = false;
        reader.on("close", () => resolve(interrupted ? "" : undefined));
        reader.on("SIGINT", () => {
          interrupted = reader.line !== "";
          process.stderr.write("\n");
          reader.close();
        });
        reader.question(prompt, (line) => {
          resolve(line);
          if (line.trim() !== "" && history[0] !== line) history.unshift(line);
          reader.close();
        });
      });
    },
    onInterrupt(action) {
      interrupts.add(action);
      return () => interrupts.delete(action);
    },
    close: () => process.off("SIGINT", onSignal),
  };
}

function pipedLines(reader: AsyncIterable<string>): { next(): Promise<string | undefined> } {
  const iterator = reader[Symbol.asyncIterator]();
  return {
    async next() {
      const { done, value } = await iterator.next();
      return done ? undefined : value;
    },
  };
}

/** Whether standard input is something a caller deliberately connected: a file, a pipe or a socket. */
export function inputIsConnected(): boolean {
  if (process.stdin.isTTY) return false;
  try {
    const status = fstatSync(0);
    return status.isFIFO() || status.isFile() || status.isSocket();
  } catch {
    return false;
  }
}

/**
 * All of standard input. With `patient: false` an input that stays silent is given up on, because a parent process that left
 * a pipe open without writing to it would otherwise hang the run for ever.
 */
export async function readInput({ patient }: { readonly patient: boolean }): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  return new Promise((resolve, reject) => {
    const finish = (value: string | undefined) => {
      clearTimeout(timer);
      process.stdin.removeAllListeners();
      process.stdin.pause();
      resolve(value);
    };
    const timer = patient ? undefined : setTimeout(() => finish(undefined), FIRST_BYTE_MS);
    process.stdin.on("data", (chunk: Buffer) => {
      clearTimeout(timer);
      chunks.push(chunk);
    });
    process.stdin.on("end", () => finish(Buffer.concat(chunks).toString("utf8")));
    process.stdin.on("error", reject);
  });
}
