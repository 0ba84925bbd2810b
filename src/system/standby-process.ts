/**
 * A shell that was started before there is a command for it. Starting a process takes milliseconds, a sandbox several times
 * that; a model thinks meanwhile.
 *
 * 1. It waits at the end of a pipe that only this process holds, and ends when that ends: nobody has to stop it.
 * 2. It keeps nothing alive: neither this process nor a place in the order of commands.
 * 3. It is used once, by `launchWith`, and is from then on a command like any other.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { identityOf } from "./file-identity.js";
import { OutputPipe } from "./output-pipe.js";
import type { Exit, Launch, Launched } from "./process-group.js";
import { nextMarker, withMarker } from "./process-tree.js";

export interface StandbyRequest {
  /** A program that runs `waitingShell`. */
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Open files that become its descriptors 3 and up. */
  readonly descriptors?: readonly number[];
}

/** bash reads it byte by byte, which takes longer than a new process from some length on. */
export const STANDBY_COMMAND_BYTES = 4096;

const waiting = new Set<StandbyProcess>();
let exitHandled = false;

/** Before anything else that happens at the exit: what is removed then must not be in the making still. */
function killAtExit(): void {
  if (exitHandled) return;
  exitHandled = true;
  process.prependListener("exit", () => {
    for (const each of waiting) each.kill();
  });
}

const SCRIPT =
  'IFS= read -r -d "" -u "$1" oxbow_command || exit 125; eval "exec $1<&-"; exec "$0" -c -- "$oxbow_command"';

/** What bash is to be started with. The last word is the descriptor that the command comes through: `commandDescriptor`. */
export function waitingShell(bash: string): readonly string[] {
  return [bash, "-c", SCRIPT, bash, ""];
}

export class StandbyProcess {
  readonly #child: ChildProcess;
  readonly #pid: number;
  readonly #pipe: OutputPipe;
  readonly #marker: string;
  readonly #folder: string;
  readonly #exited: Promise<Exit>;
  readonly #cwd: string;
  #isAlive = true;
  #early: Buffer[] = [];
  #sink: ((chunk: Buffer) => void) | undefined;

  private constructor(child: ChildProcess, about: { pid: number; pipe: OutputPipe; marker: string; cwd: string }) {
    this.#child = child;
    this.#pid = about.pid;
    this.#pipe = about.pipe;
    this.#marker = about.marker;
    this.#cwd = about.cwd;
    this.#folder = identityOf(about.cwd);
    this.#exited = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        this.#isAlive = false;
        waiting.delete(this);
        resolve({ code: code ?? undefined, signal: signal ?? undefined });
      });
    });
    waiting.add(this);
    killAtExit();
    about.pipe.start((chunk) => {
      if (this.#sink === undefined) this.#early.push(chunk);
      else this.#sink(chunk);
    });
    about.pipe.unref();
    child.unref();
    // It may be gone before it is told.
    this.#commands.on("error", () => {});
    this.#commands.unref();
  }

  /** Undefined where it cannot be had; then a command is started when it comes. */
  static async start({ argv, cwd, env, descriptors = [] }: StandbyRequest): Promise<StandbyProcess | undefined> {
    const pipe = await OutputPipe.open();
    if (pipe === undefined) return undefined;
    const marker = nextMarker();
    const [program = "", ...args] = argv.with(-1, String(3 + descriptors.length));
    try {
      const child = spawn(program, args, {
        cwd,
        env: withMarker(env, marker),
        detached: true,
        stdio: ["ignore", pipe.writeEnd, pipe.writeEnd, ...descriptors, "pipe"],
      });
      child.on("error", () => {});
      if (child.pid !== undefined) return new StandbyProcess(child, { pid: child.pid, pipe, marker, cwd });
    } catch {
      // The command will say what is wrong when it comes.
    }
    pipe.close();
    return undefined;
  }

  /** Whether it still waits, in the folder that has its name. */
  get isReady(): boolean {
    return this.#isAlive && this.#sink === undefined && identityOf(this.#cwd) === this.#folder;
  }

  launchWith(command: string): Launch {
    return async ({ onOutput }): Promise<Launched> => {
      waiting.delete(this);
      this.#child.ref();
      this.#pipe.ref();
      this.#sink = onOutput;
      for (const chunk of this.#early) onOutput(chunk);
      this.#early = [];
      this.#commands.end(`${command}\0`);
      return {
        pid: this.#pid,
        marker: this.#marker,
        exited: this.#exited,
        outputLink: this.#pipe.link,
        outputEnded: () => this.#pipe.ended,
        outputEnd: new Promise(() => {}),
        drain: () => this.#pipe.drain(),
        close: () => this.#pipe.close(),
      };
    };
  }

  /** At once and without waiting. */
  kill(): void {
    try {
      process.kill(-this.#pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  }

  /** Ends one that nobody used. */
  async stop(): Promise<void> {
    if (this.#sink !== undefined) return;
    this.#sink = () => {};
    this.#child.ref();
    this.#commands.destroy();
    await this.#exited;
    this.#pipe.drain();
    this.#pipe.close();
  }

  get #commands(): Socket {
    return this.#child.stdio.at(-1) as Socket;
  }
}
