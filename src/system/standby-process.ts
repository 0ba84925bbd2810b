/**
 * A shell that was started before there is a command for it. Starting a process takes milliseconds, a sandbox several times
 * that; a model thinks meanwhile.
 *
 * 1. It waits at the end of a pipe that only this process holds, and ends with it, so it needs no explicit stop.
 * 2. It keeps nothing alive: neither this process nor a place in the order of commands.
 * 3. It is used once, by `launchWith`, and is from then on a command like any other.
 */
import { identityOf } from "./file-identity.js";
import { INPUT_PIPE_BYTES, InputPipe } from "./input-pipe.js";
import type { Launch, Launched, ProcessRequest } from "./process-group.js";
import { nextMarker, withBystander, withMarker } from "./process-tree.js";

/** `argv` is a program that runs `waitingShell`. */
export type StandbyRequest = Pick<ProcessRequest, "argv" | "cwd" | "env" | "descriptors" | "withheld">;

/** bash reads it byte by byte, which takes longer than a new process from some length on. One byte ends it. */
export const STANDBY_COMMAND_BYTES = INPUT_PIPE_BYTES - 1;

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

/**
 * It takes the command and becomes the shell that would have been started: neither a variable nor an open file remains. A shell that
 * was started for one program would be replaced by it. This one stays around it, and so must not be gone before it.
 */
const SCRIPT = [
  'IFS= read -r -d "" -u "$1" oxbow_command || exit 125',
  'eval "exec $1<&-"',
  'set -- "$oxbow_command"',
  "unset oxbow_command",
  "trap 'trap - TERM; kill -TERM $$' TERM",
  'eval "shift; $1"',
].join("; ");

/** What bash is to be started with. The last word is the descriptor that the command comes through. */
export function waitingShell(bash: string): readonly string[] {
  return [bash, "-c", SCRIPT, bash, ""];
}

/** Keeps the output of a shell without a command for its later owner. */
class EarlyOutput {
  #chunks: Buffer[] = [];
  #sink: ((chunk: Buffer) => void) | undefined;

  readonly take = (chunk: Buffer): void => {
    if (this.#sink === undefined) this.#chunks.push(chunk);
    else this.#sink(chunk);
  };

  goOnTo(sink: (chunk: Buffer) => void): void {
    this.#sink = sink;
    for (const chunk of this.#chunks.splice(0)) sink(chunk);
  }
}

interface Parts {
  readonly launched: Launched;
  readonly commands: InputPipe;
  readonly output: EarlyOutput;
  readonly marker: string;
  readonly cwd: string;
  /** Which folder that was before it was started. */
  readonly folder: string;
}

export class StandbyProcess {
  readonly #parts: Parts;
  readonly #gone: Promise<void>;
  /** From now on the process counts as running. */
  readonly #stepIn: () => void;
  #isAlive = true;
  #isTaken = false;

  private constructor(parts: Parts) {
    this.#parts = parts;
    this.#gone = parts.launched.exited.then(({ signal }) => {
      this.#isAlive = false;
      waiting.delete(this);
      this.#stepIn();
      parts.commands.close({ isUnheld: signal === undefined });
    });
    waiting.add(this);
    this.#stepIn = withBystander(parts.launched.pid);
    killAtExit();
    parts.launched.unref?.();
  }

  /** Undefined where it cannot be had; then a command is started when it comes. */
  static async start(request: StandbyRequest, launch: Launch): Promise<StandbyProcess | undefined> {
    const { argv, cwd, env, descriptors = [], withheld } = request;
    const folder = identityOf(cwd);
    const commands = await InputPipe.open();
    if (commands === undefined) return undefined;
    const marker = nextMarker();
    const output = new EarlyOutput();
    try {
      const launched = await launch({
        argv: argv.with(-1, String(3 + descriptors.length)),
        cwd,
        env: withMarker(env, marker),
        descriptors: [...descriptors, commands.readEnd],
        withheld,
        onOutput: output.take,
      });
      commands.started();
      return new StandbyProcess({ launched, commands, output, marker, cwd, folder });
    } catch {
      // The command will say what is wrong when it comes.
      commands.close({ isUnheld: false });
      return undefined;
    }
  }

  /** Whether it still waits, in the folder that has its name. */
  get isReady(): boolean {
    const { cwd, folder } = this.#parts;
    return this.#isAlive && !this.#isTaken && identityOf(cwd) === folder;
  }

  launchWith(command: string): Launch {
    return async ({ onOutput }): Promise<Launched> => {
      const { launched, commands, output, marker } = this.#parts;
      this.#isTaken = true;
      waiting.delete(this);
      this.#stepIn();
      launched.ref?.();
      output.goOnTo(onOutput);
      commands.write(`${command}\0`);
      return { ...launched, marker };
    };
  }

  /** At once and without waiting. */
  kill(): void {
    try {
      process.kill(-this.#parts.launched.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  }

  /** Ends an unused one. */
  async stop(): Promise<void> {
    if (this.#isTaken) return;
    this.#isTaken = true;
    const { launched, commands } = this.#parts;
    launched.ref?.();
    commands.end();
    await this.#gone;
    launched.drain();
    launched.close();
  }
}
