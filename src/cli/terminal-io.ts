/** The process's own streams, for the plain clients. */
import { fstatSync } from "node:fs";
import { UsageError } from "../base/usage-error.js";
import type { Variables } from "../base/variables.js";
import type { Terminal } from "../clients/headless/terminal.js";
import { nodeClock } from "../system/node-clock.js";
import type { LineReader } from "./line-reader.js";

/** With a prompt, a pipe that is silent this long counts as empty. */
const FIRST_BYTE_MS = 2000;

interface TerminalLook {
  readonly lines?: LineReader;
  /** Shows tool calls and progress without a terminal, too. */
  readonly verbose?: boolean;
  readonly hidesCost?: boolean;
  /** Writes the answer as it arrives, also to a pipe. */
  readonly streams?: boolean;
}

export function processTerminal(
  variables: Variables,
  { lines, verbose, hidesCost, streams }: TerminalLook = {},
): Terminal {
  const errIsTerminal = process.stderr.isTTY === true;
  const stream = variables.OXBOW_STREAM || undefined;
  if (stream !== undefined && stream !== "0" && stream !== "1") {
    throw new UsageError(`OXBOW_STREAM: expected 1 or 0, got "${stream}".`);
  }
  const color = errIsTerminal && !variables.NO_COLOR && variables.TERM !== "dumb";
  const terminal: Terminal = {
    ...(hidesCost && { hidesCost }),
    out: {
      isTerminal: process.stdout.isTTY === true,
      streams: streams === true || stream === "1",
      get columns() {
        return process.stdout.columns;
      },
      write: (text) => void process.stdout.write(text),
    },
    err: {
      isTerminal: errIsTerminal && variables.TERM !== "dumb",
      get columns() {
        return process.stderr.columns;
      },
      write: (text) => void process.stderr.write(text),
    },
    showProgress: verbose === true || (stream !== "0" && (errIsTerminal || stream === "1")),
    color,
  };
  if (!personPresent()) return terminal;
  return {
    ...terminal,
    askLine: (question, signal) => lines?.ask(question, signal) ?? askOnce(question, signal),
  };
}

/** Asks about content on stderr; with `asksLater` a client does it. */
export function trustLook(
  { askLine, err, color }: Terminal,
  { asksLater = false }: { readonly asksLater?: boolean } = {},
) {
  return {
    color,
    width: process.stderr.columns ?? 80,
    ...(asksLater && { asksLater }),
    ...(askLine &&
      !asksLater && {
        conversation: {
          show: (words: string) => err.write(`${words}\n`),
          ask: (question: string) => askLine(question),
        },
      }),
  };
}

/** Tells whether a user can see a question and type an answer. Looks at `stdin` last, because making that stream takes a millisecond. */
export function personPresent(): boolean {
  return process.stderr.isTTY === true && process.stdin.isTTY === true;
}

/** One question before anything else reads the input. Ctrl-C ends the program. */
export async function askOnce(question: string, signal?: AbortSignal): Promise<string | undefined> {
  const { LineReader } = await import("./line-reader.js");
  const reader = new LineReader(nodeClock, { interrupt: "signal" });
  try {
    return await reader.ask(question, signal);
  } finally {
    reader.close();
  }
}

/** Tells whether standard input is something a caller deliberately connected: a file, a pipe or a socket. */
export function inputIsConnected(): boolean {
  try {
    const status = fstatSync(0);
    return status.isFIFO() || status.isFile() || status.isSocket();
  } catch {
    return false;
  }
}

/**
 * All of standard input. With `patient: false` it stops waiting for silent input, because a parent process that left
 * a pipe open without writing to it would otherwise block the run forever.
 */
export async function readInput(options: { readonly patient: boolean }): Promise<string | undefined> {
  return (await readBytes(options))?.bytes.toString("utf8");
}

/** The same, up to a little more than `most` bytes; `ended` says whether that is all of it. */
export async function readBytes({
  patient,
  most = Number.POSITIVE_INFINITY,
}: {
  readonly patient: boolean;
  readonly most?: number;
}): Promise<{ readonly bytes: Buffer; readonly ended: boolean } | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve, reject) => {
    const finish = (how: "ended" | "stopped" | "silent") => {
      clearTimeout(timer);
      process.stdin.removeAllListeners();
      process.stdin.pause();
      resolve(how === "silent" ? undefined : { bytes: Buffer.concat(chunks), ended: how === "ended" });
    };
    const timer = patient ? undefined : setTimeout(() => finish("silent"), FIRST_BYTE_MS);
    process.stdin.on("data", (chunk: Buffer) => {
      clearTimeout(timer);
      chunks.push(chunk);
      length += chunk.length;
      if (length > most) finish("stopped");
    });
    process.stdin.on("end", () => finish("ended"));
    process.stdin.on("error", reject);
  });
}
