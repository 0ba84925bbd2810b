/**
 * When commands ran, and what each of them could not change. A file whose change time lies outside of all these spans is the person's:
 * no program can set that time.
 */
import { isWithin } from "../../system/within.js";

export interface CommandRights {
  /** Places that were read-only for it. */
  readonly held: readonly string[];
  /** Guarded paths that the user allowed for this command. */
  readonly granted: readonly string[];
  /** `everything`: it runs outside the sandbox, because the user allowed that. */
  readonly writes: "workspace" | "repositories" | "everything";
}

export interface CommandSpan extends CommandRights {
  readonly from: number;
  /** Undefined while it runs. */
  to: number | undefined;
}

/** File times may lag behind the clock by this much; they are never ahead. */
const TICK_MS = 15;
/** Some file systems store whole seconds only. */
const SECOND_MS = 1000;

export class CommandSpans {
  readonly #wall: () => number;
  #spans: CommandSpan[] = [];

  constructor(wall: () => number) {
    this.#wall = wall;
  }

  /** Returns the function to call when the command ends. */
  begin(rights: CommandRights): () => void {
    const span: CommandSpan = { ...rights, from: this.#wall() - TICK_MS, to: undefined };
    this.#spans.push(span);
    return () => {
      span.to ??= this.#wall() + 1;
    };
  }

  /** Whether a sandboxed command runs now. */
  get areOpen(): boolean {
    return this.#spans.some(({ to, writes }) => to === undefined && writes !== "everything");
  }

  /** The commands that ran at that time and could change this path. */
  around(path: string, time: number): readonly CommandSpan[] {
    const latest = time % SECOND_MS === 0 ? time + SECOND_MS : time;
    return this.#spans.filter(
      ({ from, to, held }) =>
        latest >= from && (to === undefined || time <= to) && !held.some((place) => isWithin(path, place)),
    );
  }

  /** Forgets the commands that ended before this time: all changes up to then have been checked. */
  forgetBefore(time: number): void {
    this.#spans = this.#spans.filter(({ to }) => to === undefined || to >= time);
  }
}
