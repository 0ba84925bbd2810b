/**
 * Ripgrep as a child process.
 *
 * 1. The child gets no configuration, no environment and no shell; text from a model is only ever the value of an option.
 * 2. The child has ended when `run` settles: by itself, or killed because there was enough output or the search was cancelled.
 * 3. Output is streamed, never collected.
 */
import { onAbort } from "../../base/abort-tree.js";
import { PipeWatch } from "../../system/waiting-pipe.js";

/** The program cannot be used on this machine: search without it. */
export class RipgrepUnusable extends Error {}

/** It wrote nothing for too long, or waits for an ignore file that is a named pipe. */
export class RipgrepSilent extends Error {}

/** Ripgrep did not accept the search; the message is its own. */
export class RipgrepRefused extends Error {}

export interface RipgrepPlace {
  readonly program: string;
  /** The folder in which the child starts and searches. */
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** Says how long it may write nothing; default: 30 s. */
  readonly silentMs?: number | undefined;
  /** A descriptor that becomes the child's input. */
  readonly input?: number;
}

const MAX_STDERR_CHARACTERS = 8000;
const SILENT_MS = 30_000;
/** Then an ignore file may be a named pipe. */
const PIPE_MS = 1000;

/** Reports that ripgrep writes nothing, or that it waits for a named pipe. */
function watchSilence({ cwd, silentMs = SILENT_MS }: RipgrepPlace, onSilent: (why: string) => void) {
  const silence = setTimeout(() => onSilent(`ripgrep wrote nothing for ${silentMs} ms`), silentMs);
  const pipes = new PipeWatch({
    root: cwd,
    silentMs: Math.min(PIPE_MS, silentMs),
    onFound: (path) => onSilent(`ripgrep waits for ${path}, which is a named pipe`),
  });
  return {
    heard: () => {
      silence.refresh();
      pipes.heard();
    },
    stop: () => {
      clearTimeout(silence);
      pipes.stop();
    },
  };
}

/** `take` returns after each chunk whether it needs more. */
export async function runRipgrep(
  place: RipgrepPlace,
  args: readonly string[],
  take: (chunk: Buffer) => "more" | "enough",
): Promise<"ended" | "stopped"> {
  place.signal.throwIfAborted();
  const { spawn } = await import("node:child_process");
  const child = spawn(place.program, args, {
    cwd: place.cwd,
    env: {},
    stdio: [place.input ?? "ignore", "pipe", "pipe"],
    windowsHide: true,
  });
  let stopped = false;
  let failure: unknown;
  let stderr = "";
  const stop = (): void => {
    stopped = true;
    child.kill("SIGKILL");
  };
  const stopListening = onAbort(place.signal, stop);
  const silence = watchSilence(place, (why) => {
    failure = new RipgrepSilent(why);
    stop();
  });
  child.stdout?.on("data", (chunk: Buffer) => {
    silence.heard();
    if (stopped) return;
    try {
      if (take(chunk) === "enough") stop();
    } catch (error) {
      failure = error;
      stop();
    }
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    if (stderr.length < MAX_STDERR_CHARACTERS) stderr += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", (error) => reject(new RipgrepUnusable(error.message)));
    child.on("close", resolve);
  }).finally(() => {
    silence.stop();
    stopListening();
  });
  place.signal.throwIfAborted();
  if (failure !== undefined) throw failure;
  // 1 means no match; 2 without a message means unreadable files: both are fine.
  if (!stopped && code !== 0 && stderr.trim() !== "") throw new RipgrepRefused(stderr);
  if (!stopped && (code === null || code > 2)) throw new RipgrepUnusable(`ripgrep ended with ${code}: ${stderr}`);
  return stopped ? "stopped" : "ended";
}
