/**
 * Runs a command in its own process group and controls everything it starts.
 *
 * 1. `ended` settles only when the whole tree is dead: after a cancel, a timeout, and after an ordinary end that left
 *    processes behind. It never hangs: not on a background child that holds the output, not on an interactive prompt (there is
 *    no terminal, and stdin is empty by default), not on a process that ignores SIGTERM.
 * 2. All output written before the end is delivered before `ended` settles, in the order it was written, and none after.
 * 3. When this process ends, however it ends, the trees end with it.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { Readable } from "node:stream";
import { onAbort } from "../base/abort-tree.js";
import type { Clock } from "../base/clock.js";
import { nodeClock } from "./node-clock.js";
import { OutputPipe } from "./output-pipe.js";
import { nextMarker, ProcessTree, withMarker } from "./process-tree.js";
import { ProcessWatchdog } from "./process-watchdog.js";

export interface ProcessRequest {
  /** The program and its arguments, without a shell. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The whole environment of the child, except the marker of its process tree. */
  readonly env: Readonly<Record<string, string>>;
  readonly onOutput: (chunk: Buffer) => void;
  /** Without it stderr comes with stdout, in the order both were written. */
  readonly onErrorOutput?: (chunk: Buffer) => void;
  /** The child's stdin; default: empty. A promise is written when it resolves, a stream as it comes. */
  readonly input?: string | Uint8Array | Promise<string> | Readable;
  /** Open files that become the child's descriptors 3 and up. A terminal cannot pass them on. */
  readonly descriptors?: readonly number[];
  /** Open files that the parent of this process left to it, and that must not reach the child. */
  readonly withheld?: Withheld | undefined;
  /** The program is only a wrapper (a sandbox): it ends with its children, and SIGTERM to it would kill them. */
  readonly isWrapper?: boolean;
  /** The kernel ensures that no process outlives it (a process namespace). */
  readonly endsWithAll?: boolean;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /** How long a process may take to stop before it is killed. */
  readonly graceMs?: number;
  /** How long processes that outlive the command may keep writing before they are stopped. */
  readonly drainMs?: number;
  readonly clock?: Clock;
}

/** Node leaves such files open in its children, and of the shells only bash can close those with more than one digit. */
export interface Withheld {
  readonly descriptors: readonly number[];
  readonly bash: string;
}

export type EndReason = "exit" | "timeout" | "cancelled";

export interface ProcessEnd {
  readonly reason: EndReason;
  readonly exitCode: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  /** Processes that were still running when the command ended; they were stopped. */
  readonly leftovers: number;
  /** Processes that could not be ended: stuck in the kernel, or another user's. */
  readonly survivors: number;
}

export interface RunningProcess {
  readonly pid: number;
  readonly ended: Promise<ProcessEnd>;
  /** Ends the tree; `ended` then says "cancelled". */
  stop(): Promise<ProcessEnd>;
}

/** The command could not be started; the message says why and what to do. */
export class SpawnError extends Error {
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.name = "SpawnError";
    this.code = code;
  }
}

/** A started command. */
export interface Launched {
  readonly pid: number;
  /** The marker in its environment, if that was made before the request. */
  readonly marker?: string;
  readonly outputLink?: string;
  readonly exited: Promise<Exit>;
  /** Whether no process can write any more. */
  outputEnded(): boolean;
  /** Settles at the end of the output, or never. */
  readonly outputEnd: Promise<void>;
  /** Delivers the output so far, without waiting. */
  drain(): void;
  close(): void;
}

export interface Exit {
  readonly code: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
}

/** Starts the command; throws a SpawnError. */
export type Launch = (request: ProcessRequest) => Promise<Launched>;

const GRACE_MS = 700;
const DRAIN_MS = 250;
const EXIT_LIMIT_MS = 500;
/** Shorter commands do not start a watchdog. */
const WATCH_AFTER_MS = 200;
const WINDOWS = process.platform === "win32";

const trees = new Set<ProcessTree>();
const watchdog = new ProcessWatchdog();

/** Kills every tree that is still alive, at once and without waiting. It runs when the process exits. */
export function killAllGroups(): void {
  for (const tree of trees) tree.killNow();
  trees.clear();
  watchdog.stop();
}

let exitHandled = false;

export async function startProcess(request: ProcessRequest, launch: Launch = startOnPipes): Promise<RunningProcess> {
  if (!exitHandled) {
    exitHandled = true;
    process.once("exit", killAllGroups);
  }
  const marker = nextMarker();
  const launched = await launch({ ...request, env: withMarker(request.env, marker) });
  const tree = new ProcessTree(launched.pid, {
    marker: launched.marker ?? marker,
    outputLink: launched.outputLink,
    isWrapper: request.isWrapper === true,
    endsWithAll: request.endsWithAll === true,
  });
  const stopper = new AbortController();
  const ended = supervise(launched, tree, { request, stop: stopper.signal });
  return {
    pid: launched.pid,
    ended,
    stop() {
      stopper.abort();
      return ended;
    },
  };
}

/** Starts the command and waits for its end; throws a SpawnError when it cannot be started. */
export async function runProcess(request: ProcessRequest, launch?: Launch): Promise<ProcessEnd> {
  if (request.signal?.aborted) {
    return { reason: "cancelled", exitCode: undefined, signal: undefined, leftovers: 0, survivors: 0 };
  }
  return (await startProcess(request, launch)).ended;
}

async function supervise(
  launched: Launched,
  tree: ProcessTree,
  { request, stop }: { readonly request: ProcessRequest; readonly stop: AbortSignal },
): Promise<ProcessEnd> {
  const clock = request.clock ?? nodeClock;
  trees.add(tree);
  const watch = setTimeout(() => {
    tree.recordLasting();
    watchdog.watch(tree.pid);
  }, WATCH_AFTER_MS).unref();
  let exit: Exit | undefined;
  const exited = launched.exited.then((value) => {
    exit = value;
    tree.recordExit(value);
  });
  const reason = await firstReason(exited, { request, stop, clock });
  let leftovers = 0;
  let survivors = 0;
  const quiet = reason === "exit" && (await quietWithin(launched, tree, { clock, ms: request.drainMs ?? DRAIN_MS }));
  if (!quiet && !tree.isEmpty()) {
    if (reason === "exit") leftovers = tree.members().length;
    survivors = await tree.terminate({ clock, graceMs: request.graceMs ?? GRACE_MS });
    // All processes have ended; the exit event of the first one may still come.
    if (exit === undefined) await Promise.race([exited, pause(clock, EXIT_LIMIT_MS)]);
  }
  launched.drain();
  launched.close();
  clearTimeout(watch);
  watchdog.unwatch(tree.pid);
  trees.delete(tree);
  return { reason, exitCode: exit?.code, signal: exit?.signal, leftovers, survivors };
}

function firstReason(
  exited: Promise<void>,
  { request, stop, clock }: { readonly request: ProcessRequest; readonly stop: AbortSignal; readonly clock: Clock },
): Promise<EndReason> {
  return new Promise((resolve) => {
    const undo = [
      onAbort(stop, () => resolve("cancelled")),
      request.signal === undefined ? () => {} : onAbort(request.signal, () => resolve("cancelled")),
      request.timeoutMs === undefined ? () => {} : clock.after(request.timeoutMs, () => resolve("timeout")),
    ];
    void exited.then(() => {
      for (const take of undo) take();
      resolve("exit");
    });
  });
}

/** Whether the tree was empty and its output ended within the time limit. */
async function quietWithin(
  launched: Launched,
  tree: ProcessTree,
  { clock, ms }: { readonly clock: Clock; readonly ms: number },
): Promise<boolean> {
  const deadline = clock.now() + ms;
  for (let wait = 1; ; wait = Math.min(wait * 2, 32)) {
    launched.drain();
    if (launched.outputEnded() && tree.isEmpty()) return true;
    if (clock.now() >= deadline) return false;
    await (launched.outputEnded() ? pause(clock, wait) : Promise.race([launched.outputEnd, pause(clock, wait)]));
  }
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => clock.after(ms, resolve));
}

export const startOnPipes: Launch = async (request) => {
  const pipe = request.onErrorOutput === undefined ? await OutputPipe.open() : undefined;
  try {
    return await launchChild(request, pipe);
  } catch (error) {
    pipe?.close();
    throw spawnError(error as NodeJS.ErrnoException, request);
  }
};

async function launchChild(request: ProcessRequest, pipe: OutputPipe | undefined): Promise<Launched> {
  const [program, ...args] = withoutInherited(request);
  if (program === undefined) throw new Error("argv is empty");
  const output = pipe?.writeEnd ?? "pipe";
  const child = spawn(program, args, {
    cwd: request.cwd,
    // Node's pipes are sockets, and a bash with a socket as stdin assumes a remote login and reads ~/.bashrc, unless
    // another shell seems to be around it.
    env: request.input === undefined ? request.env : { SHLVL: "1", ...request.env },
    detached: !WINDOWS,
    windowsHide: true,
    stdio: [request.input === undefined ? "ignore" : "pipe", output, output, ...(request.descriptors ?? [])],
  });
  const { pid } = child;
  if (pid === undefined) {
    throw await new Promise((resolve) => child.once("error", resolve));
  }
  child.on("error", () => {});
  const exited = new Promise<Exit>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code: code ?? undefined, signal: signal ?? undefined }));
  });
  if (child.stdin !== null) {
    // A child that does not read its input is not an error.
    child.stdin.on("error", () => {});
    const { stdin } = child;
    if (request.input instanceof Readable) request.input.pipe(stdin);
    else void Promise.resolve(request.input).then((input) => stdin.end(input));
  }
  if (pipe !== undefined) {
    pipe.start(request.onOutput);
    return {
      pid,
      exited,
      outputLink: pipe.link,
      outputEnded: () => pipe.ended,
      outputEnd: new Promise(() => {}),
      drain: () => pipe.drain(),
      close: () => pipe.close(),
    };
  }
  let closed = false;
  let finished = false;
  const listen = (sink: (chunk: Buffer) => void) => (chunk: Buffer) => {
    if (!finished) sink(chunk);
  };
  child.stdout?.on("data", listen(request.onOutput));
  child.stderr?.on("data", listen(request.onErrorOutput ?? request.onOutput));
  const outputEnd = new Promise<void>((resolve) => {
    child.once("close", () => {
      closed = true;
      resolve();
    });
  });
  return {
    pid,
    exited,
    outputEnded: () => closed,
    outputEnd,
    drain() {},
    close() {
      finished = true;
      child.stdout?.destroy();
      child.stderr?.destroy();
      child.stdin?.destroy();
    },
  };
}

/** A shell that closes the withheld files and then executes the program. */
export function withoutInherited({ argv, withheld }: Pick<ProcessRequest, "argv" | "withheld">): readonly string[] {
  if (withheld === undefined) return argv;
  const close = withheld.descriptors.map((descriptor) => `exec ${descriptor}<&-\n`).join("");
  return [withheld.bash, "-c", `${close}exec "$@"`, "bash", ...argv];
}

function spawnError(error: NodeJS.ErrnoException, { argv, cwd }: ProcessRequest): SpawnError {
  const code = error.code ?? "UNKNOWN";
  return new SpawnError(spawnMessage(code, { program: argv[0] ?? "", cwd, fallback: error.message }), code);
}

function spawnMessage(code: string, about: { program: string; cwd: string; fallback: string }): string {
  const { program, cwd } = about;
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      if (!existsSync(cwd)) return `The working directory ${cwd} does not exist.`;
      return program.includes("/") && existsSync(program)
        ? `${program} cannot be started: the program that its first line (#!) names was not found.`
        : `The program ${program} was not found. Is it installed and on PATH?`;
    case "EACCES":
      return `${program} may not be run, or the working directory ${cwd} may not be entered (permission denied).`;
    case "E2BIG":
      return "The command is too long for this system. Write it to a file and run that.";
    case "EAGAIN":
    case "ENOMEM":
    case "EMFILE":
    case "ENFILE":
      return `The system cannot start another process at the moment (${code}). End some processes and try again.`;
    default:
      return `${program} could not be started: ${about.fallback}`;
  }
}
