/**
 * The sandbox for the next command of a turn, made while the current command runs and the model thinks. Without it a sandboxed shell
 * turn takes 30 ms where it may take 25 ms, with it 19 ms (docs/decisions/0010-sandboxes-made-ahead.md).
 *
 * 1. Its first process waits for the command on stdin. It ends with this process, with the turn, and after a while.
 * 2. It runs one command, and only one that would get the same sandbox, environment and folder now.
 * 3. If it cannot be used, the command gets a new sandbox.
 * 4. If it ends before the command begins, a second one runs the command (sandbox-attempt.ts).
 */
import type { Clock } from "../../base/clock.js";
import type { Sandbox, SandboxedCommand } from "../../security/sandbox/sandbox.js";
import { startOnPipes } from "../../system/process-launch.js";
import { nextMarker, withMarker } from "../../system/process-tree.js";
import type { ShellCommand } from "../../tools/shell/wrapped-command.js";
import { type Attempt, type MadeSandbox, newAttempt, plainCommand, withMoreAttempts } from "./sandbox-attempt.js";
import { newMark, StartMark } from "./start-mark.js";

const WAIT_MS = 30_000;

/** What a sandbox is made for. */
export interface SandboxPlace {
  readonly sandbox: Sandbox;
  readonly command: ShellCommand;
  /** Only a sandbox on pipes, for a command without input, can be made ahead: it gets its command on stdin. */
  readonly on: "pipes" | "pipes with input" | "terminal";
}

interface WaitingSandbox {
  readonly place: SandboxPlace;
  readonly wrapped: SandboxedCommand;
  readonly isAlive: () => boolean;
  launchWith(argv: readonly string[]): Attempt["launch"];
}

export class SandboxAhead {
  readonly #clock: Clock;
  #next: Promise<WaitingSandbox | undefined> | undefined;
  #cancelEnd: () => void = () => {};
  #beginning: NodeJS.Immediate | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The sandbox that waits for such a command, or a new one. The next one is made as soon as the command runs. */
  async wrap(place: SandboxPlace): Promise<MadeSandbox> {
    const { sandbox, command, on } = place;
    if (on === "terminal") return { wrapped: await sandbox.wrap(plainCommand(command)), launch: startOnPipes };
    const makeNow = () => newAttempt(sandbox, command);
    if (on === "pipes with input") return withMoreAttempts(await makeNow(), makeNow);
    const { wrapped, launch } = withMoreAttempts((await this.#take(place)) ?? (await makeNow()), makeNow);
    return {
      wrapped,
      launch: async (request) => {
        const launched = await launch(request);
        if (wrapped.endsWithAll) this.#beginSoon(place);
        return launched;
      },
    };
  }

  /** Stops the waiting sandbox, because no command follows for now. */
  async rest(): Promise<void> {
    clearImmediate(this.#beginning);
    const next = this.#next;
    this.#next = undefined;
    this.#cancelEnd();
    await (await next)?.wrapped.ended();
  }

  /** After the command has started. It may have ended by then, and the session with it. */
  #beginSoon(place: SandboxPlace): void {
    clearImmediate(this.#beginning);
    this.#beginning = setImmediate(() => this.#begin(place));
  }

  #begin(place: SandboxPlace): void {
    if (this.#next !== undefined) return;
    // The command that needs the sandbox reports the problem.
    this.#next = startWaiting(place).catch(() => undefined);
    this.#cancelEnd = this.#clock.after(WAIT_MS, () => void this.rest());
  }

  async #take(place: SandboxPlace): Promise<Attempt | undefined> {
    const next = this.#next;
    this.#next = undefined;
    this.#cancelEnd();
    const waiting = await next;
    if (waiting === undefined) return undefined;
    const { wrapped } = waiting;
    if (waiting.isAlive() && isSame(waiting.place, place) && isCurrent(wrapped)) {
      return { wrapped, launch: waiting.launchWith(place.command.argv) };
    }
    await wrapped.ended();
    return undefined;
  }
}

async function startWaiting(place: SandboxPlace): Promise<WaitingSandbox> {
  const { cwd, env } = place.command;
  const made = await place.sandbox.wrap({ program: "", args: [], cwd, env, waits: true });
  const marker = nextMarker();
  let give: (orders: string) => void = () => {};
  const input = new Promise<string>((resolve) => {
    give = resolve;
  });
  let onOutput: ((chunk: Buffer) => void) | undefined;
  const early: Buffer[] = [];
  const launched = await startOnPipes({
    argv: [made.program, ...made.args],
    cwd: made.cwd,
    env: withMarker(made.env, marker),
    descriptors: made.descriptors,
    withheld: made.withheld,
    input,
    onOutput: (chunk) => (onOutput === undefined ? void early.push(chunk) : onOutput(chunk)),
  }).catch(async (error) => {
    await made.ended();
    throw error;
  });
  let isAlive = true;
  void launched.exited.then(() => {
    isAlive = false;
  });
  const ended = async () => {
    if (onOutput === undefined) {
      give("");
      await launched.exited;
      launched.close();
    }
    await made.ended();
  };
  return {
    place,
    wrapped: { ...made, ended },
    isAlive: () => isAlive,
    launchWith: (argv) => async (request) => {
      const text = newMark();
      const mark = new StartMark(text, request);
      onOutput = mark.take;
      for (const chunk of early.splice(0)) onOutput(chunk);
      give(made.orders?.(argv, text) ?? "");
      return { launched: { ...launched, marker }, mark };
    },
  };
}

function isSame(one: SandboxPlace, other: SandboxPlace): boolean {
  const [a, b] = [one.command, other.command];
  return one.sandbox === other.sandbox && a.cwd === b.cwd && JSON.stringify(a.env) === JSON.stringify(b.env);
}

/** If the check fails, the command gets a new sandbox and reports the problem. */
function isCurrent(wrapped: SandboxedCommand): boolean {
  try {
    return wrapped.isCurrent();
  } catch {
    return false;
  }
}
