/** Starts a command on pipes, in its own process group, and says why one cannot be started. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readlinkSync } from "node:fs";
import { Readable } from "node:stream";
import type { Clock } from "../base/clock.js";
import { OutputPipe } from "./output-pipe.js";

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
  /** Open files that the parent of this process left to it, and that must not reach the child. */
  readonly withheld?: Withheld | undefined;
  /** The program is only a wrapper (a sandbox): it ends with its children, and SIGTERM to it would kill them. */
  readonly isWrapper?: boolean | undefined;
  /** The kernel ensures that no process outlives it (a process namespace). */
  readonly endsWithAll?: boolean | undefined;
  /** No process that it starts may outlive it, also if it hides: for programs that Oxbow runs without a person's request. */
  readonly leavesNothing?: boolean;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /** Says how long a process may take to stop before it is killed. */
  readonly graceMs?: number;
  /** The same for processes that outlive the command; default: `graceMs`. */
  readonly leftoverGraceMs?: number;
  /** Says how long processes that outlive the command may keep writing before they are stopped. */
  readonly drainMs?: number;
  readonly clock?: Clock;
}

/** Node leaves such files open in its children, and of the shells only bash can close those with more than one digit. */
export interface Withheld {
  readonly descriptors: readonly number[];
  readonly bash: string;
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
  /** Tells whether no process can write any more. */
  outputEnded(): boolean;
  /** Settles at the end of the output, or never. */
  readonly outputEnd: Promise<void>;
  /** Delivers the output so far, without waiting. */
  drain(): void;
  /** Waits until the output that is already written has been delivered, if that takes more than `drain`. */
  flush?(): Promise<void>;
  /** Called when all output has come: processes that the sandbox ended with the command. */
  leftovers?(): number;
  close(): void;
}

export interface Exit {
  readonly code: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
}

/** Starts the command; throws a SpawnError. */
export type Launch = (request: ProcessRequest) => Promise<Launched>;

const WINDOWS = process.platform === "win32";

const IDLE_TURNS = 3;
/** A process that escaped may never stop writing. */
const MAX_FLUSH_TURNS = 1000;

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
    stdio: [request.input === undefined ? "ignore" : "pipe", output, output],
  });
  const { pid } = child;
  if (pid === undefined) {
    throw await new Promise((resolve) => child.once("error", resolve));
  }
  child.on("error", () => {});
  const exited = new Promise<Exit>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code: code ?? undefined, signal: signal ?? undefined }));
  });
  feedInput(child, request);
  if (pipe === undefined) return { pid, exited, ...readSockets(child, request, pid) };
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

function feedInput({ stdin }: ChildProcess, { input }: ProcessRequest): void {
  if (stdin === null) return;
  // A child that does not read its input is not an error.
  stdin.on("error", () => {});
  if (input instanceof Readable) input.pipe(stdin);
  else void Promise.resolve(input).then((bytes) => stdin.end(bytes));
}

/** The output over Node's own pipes: they keep the error output apart. */
function readSockets(child: ChildProcess, request: ProcessRequest, pid: number): Omit<Launched, "pid" | "exited"> {
  let closed = false;
  let finished = false;
  let received = 0;
  const listen = (sink: (chunk: Buffer) => void) => (chunk: Buffer) => {
    received++;
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
  const outputLink = socketOf(pid);
  return {
    ...(outputLink !== undefined && { outputLink }),
    outputEnded: () => closed,
    outputEnd,
    drain() {},
    // A busy process may be late to read. Each turn of the event loop reads what is there, so an idle one shows that nothing is left.
    async flush() {
      for (let turns = 0, idle = 0; turns < MAX_FLUSH_TURNS && idle < IDLE_TURNS && !closed; turns++) {
        const before = received;
        await new Promise(setImmediate);
        idle = received === before ? idle + 1 : 0;
      }
    },
    close() {
      finished = true;
      child.stdout?.destroy();
      child.stderr?.destroy();
      child.stdin?.destroy();
    },
  };
}

/** Its standard output as /proc names it. Only the command and what it starts have that end of the socket. */
function socketOf(pid: number): string | undefined {
  try {
    const link = readlinkSync(`/proc/${pid}/fd/1`);
    return /^socket:\[\d+\]$/.test(link) ? link : undefined;
  } catch {
    return undefined;
  }
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
        ? `${program} does not start: the program that its first line (#!) names was not found.`
        : `The program ${program} was not found. Is it installed and on PATH?`;
    case "EACCES":
      return `Permission denied: you may not run ${program}, or not enter the working directory ${cwd}.`;
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
