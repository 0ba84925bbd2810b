/**
 * Shells for the next commands, started while the model thinks about them.
 *
 * 1. One is used only where it is what would be started now: not when the sandbox would be another by now, nor when its folder
 *    was replaced.
 * 2. They wait for a while only, and not beyond the turn.
 * 3. Only shells that stand alone, or in a sandbox that ends with them.
 */
import type { Clock } from "../../base/clock.js";
import type { Launchers } from "../../system/launchers.js";
import type { Launch } from "../../system/process-group.js";
import type { StandbyProcess } from "../../system/standby-process.js";
import type { WrappedCommand } from "../bash.js";

export interface ReadyShell {
  readonly prepared: WrappedCommand;
  readonly launch: Launch;
}

interface Waiting {
  readonly process: StandbyProcess;
  readonly prepared: WrappedCommand;
}

export interface NextShell {
  readonly bash: string;
  /** Puts around it what would be around a command. */
  wrap(argv: readonly string[]): Promise<WrappedCommand>;
}

const WAIT_MS = 30_000;
/** The time to make a sandbox is mostly waiting: with two on the way, commands that follow each other quickly find one done. */
const AHEAD = 2;

export class StandbyShells {
  readonly #clock: Clock;
  readonly #next: Promise<Waiting | undefined>[] = [];
  #launchers: Promise<Launchers> | undefined;
  #cancelEnd: () => void = () => {};
  #isUseless = false;
  #resting: Promise<void> = Promise.resolve();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How a command is started that no shell waits for. */
  readonly launchFrom =
    (bash: string): Launch =>
    async (request) => {
      this.#launchers ??= import("../../system/launchers.js").then(({ Launchers }) => new Launchers(bash));
      return (await this.#launchers).launch(request);
    };

  /** Starts what is missing, once what happens now has happened. */
  begin(next: NextShell): void {
    if (this.#isUseless) return;
    this.#cancelEnd();
    this.#cancelEnd = this.#clock.after(WAIT_MS, () => void this.rest());
    while (!this.#isUseless && this.#next.length < AHEAD) {
      const started = new Promise((resolve) => setImmediate(resolve)).then(() => this.#start(next));
      this.#next.push(started.catch(() => undefined));
    }
  }

  /** Undefined when there is none that fits. */
  async take(command: string): Promise<ReadyShell | undefined> {
    const waiting = await this.#next.shift();
    if (waiting === undefined) return undefined;
    const { STANDBY_COMMAND_BYTES } = await loadStandby();
    const { process, prepared } = waiting;
    if (!process.isReady) {
      // Where one cannot wait, another cannot either.
      this.#isUseless = true;
    } else if (Buffer.byteLength(command) <= STANDBY_COMMAND_BYTES && isCurrent(prepared)) {
      return { prepared, launch: process.launchWith(command) };
    }
    await Promise.all([end(waiting), this.rest()]);
    return undefined;
  }

  /** Nothing waits any more, also of what an earlier call began to end. */
  async rest(): Promise<void> {
    this.#cancelEnd();
    const ending = this.#next.splice(0).map(async (next) => end(await next));
    this.#resting = Promise.all([this.#resting, ...ending]).then(async () => (await this.#launchers)?.rest());
    await this.#resting;
  }

  /** Nothing waits, and nothing will. */
  async close(): Promise<void> {
    this.#isUseless = true;
    await this.rest();
  }

  async #start({ bash, wrap }: NextShell): Promise<Waiting | undefined> {
    const { StandbyProcess, waitingShell } = await loadStandby();
    const prepared = await wrap(waitingShell(bash));
    const process =
      prepared.endsWithAll !== false ? await StandbyProcess.start(prepared, this.launchFrom(bash)) : undefined;
    if (process !== undefined) return { process, prepared };
    this.#isUseless = true;
    await prepared.ended?.();
    return undefined;
  }
}

/** Whatever keeps it from being told is for the command to say, which is then started in the usual way. */
function isCurrent(prepared: WrappedCommand): boolean {
  try {
    return prepared.isCurrent?.() ?? true;
  } catch {
    return false;
  }
}

const loadStandby = () => import("../../system/standby-process.js");

async function end(waiting: Waiting | undefined): Promise<void> {
  await waiting?.process.stop();
  await waiting?.prepared.ended?.();
}
