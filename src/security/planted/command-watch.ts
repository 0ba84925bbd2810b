/**
 * Watches what the commands of a session leave behind in the folders that they may change. It looks when a command has ended, at the
 * end of each turn, and from time to time while one runs in the background between turns.
 */
import type { Clock } from "../../base/clock.js";
import type { HeldPlaces } from "../sandbox/sandbox-options.js";
import { type CommandRights, CommandSpans } from "./command-spans.js";
import { PlantedRepositories } from "./planted-repositories.js";

export interface CommandWatchOptions {
  /** The workspace and what else commands may change, free of links. */
  readonly roots: readonly string[];
  readonly notify: (message: string) => void;
  /** The folder of the notes that say that commands run. */
  readonly folder: string;
  /** The person's environment: git finds their configuration by it. */
  readonly environment: Readonly<Record<string, string>>;
  readonly clock: Clock;
}

export interface WatchedCommand {
  started(granted: readonly string[]): void;
  ended(): Promise<void>;
  /** What the model should know, once. */
  leftBehind(): string | undefined;
}

/** How long the model waits for a scan. In a large workspace, only the end of the turn waits for all of it. */
const PATIENCE_MS = 25;
const FIRST_LOOK_MS = 50;
/** While a command runs in the background. */
const POLL_MS = 1000;
/** Scanning takes at most one part in this many of the time. */
const REST_FACTOR = 20;

export class CommandWatch {
  readonly #clock: Clock;
  readonly #spans: CommandSpans;
  readonly #all: readonly PlantedRepositories[];
  #forModel: string[] = [];
  #cancelPoll = () => {};
  #isClosed = false;

  constructor({ roots, clock, ...common }: CommandWatchOptions) {
    this.#clock = clock;
    this.#spans = new CommandSpans(() => clock.wall());
    const notifyModel = (message: string) => void this.#forModel.push(message);
    this.#all = roots.map((root) => new PlantedRepositories({ ...common, root, spans: this.#spans, notifyModel }));
  }

  /** Before the first command starts. In a large workspace, the command does not wait for the end of the first scan. */
  async begin(): Promise<void> {
    await atMost(FIRST_LOOK_MS, { work: Promise.all(this.#all.map((each) => each.begin())), clock: this.#clock });
  }

  /** A command in the sandbox. */
  inside(held: HeldPlaces, writes: CommandRights["writes"]): WatchedCommand {
    for (const each of this.#all) each.remember(held);
    return this.#command({ held: held.readOnly, writes });
  }

  /** A command that the user allowed to run outside: its files stay. */
  outside(): WatchedCommand {
    return this.#command({ held: [], writes: "everything" });
  }

  /** Resolves when the requested scans are done; scans again where a command still runs. */
  async flush(): Promise<void> {
    if (!this.#spans.areOpen) {
      await Promise.all(this.#all.map((each) => each.flush()));
      return;
    }
    await this.#look();
    this.#poll(POLL_MS);
  }

  /** No command runs any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelPoll();
    await Promise.all(this.#all.map((each) => each.close()));
  }

  #command(rights: Omit<CommandRights, "granted">): WatchedCommand {
    let end: (() => void) | undefined;
    return {
      started: (granted) => {
        end ??= this.#spans.begin({ ...rights, granted });
      },
      ended: async () => {
        if (end === undefined) return;
        end();
        await atMost(PATIENCE_MS, { work: this.#look(), clock: this.#clock });
      },
      leftBehind: () => this.#forModel.splice(0).join("\n") || undefined,
    };
  }

  async #look(): Promise<void> {
    const now = this.#clock.wall();
    await Promise.all(this.#all.map((each) => each.look()));
    this.#spans.forgetBefore(now);
  }

  #poll(delay: number): void {
    this.#cancelPoll();
    if (this.#isClosed) return;
    this.#cancelPoll = this.#clock.after(delay, () => {
      if (!this.#spans.areOpen) return;
      const started = this.#clock.now();
      const next = () => this.#poll(Math.max(POLL_MS, (this.#clock.now() - started) * REST_FACTOR));
      void this.#look().then(next, next);
    });
  }
}

async function atMost(
  milliseconds: number,
  { work, clock }: { readonly work: Promise<unknown>; readonly clock: Clock },
): Promise<void> {
  let cancel = () => {};
  const enough = new Promise<void>((resolve) => {
    cancel = clock.after(milliseconds, resolve);
  });
  await Promise.race([work, enough]);
  cancel();
}
