/**
 * Passes the redacted events of one run to its store.
 *
 * 1. Events wait in memory until the store has written them. When writing fails, the run gets the failure at once, and the next turn
 *    writes the waiting events first.
 * 2. `fence` names the last event that this writer passed to the store. When the store has another one, or the lease is lost, another
 *    process has continued the session. That is final: this writer writes nothing more, so two histories never mix.
 */
import type { Clock } from "../base/clock.js";
import type { InputContent } from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import type { SessionId } from "../protocol/ids.js";
import { overtaken } from "./log-rules.js";
import { type Durability, type Fence, type NewSession, type SessionStore, StoreError } from "./store.js";

export interface EventWriterOptions {
  readonly session: SessionId;
  /** The row to create with the first turn; undefined if the session already exists. */
  readonly create?: NewSession | undefined;
  /** The last event of the log when the session was read; 0 for a new one. */
  readonly head?: number | undefined;
  readonly clock: Clock;
  readonly onFailure: (error: StoreError) => void;
}

const LONGEST_TITLE = 80;
/** Each write to the store takes time, so events that nothing waits for are written together. */
const TOGETHER_MS = 25;

export class EventWriter {
  readonly #options: EventWriterOptions;
  /** Not yet acknowledged by the store, oldest first. */
  #unsaved: Envelope[] = [];
  /** Says how many of those were passed to the store. */
  #submitted = 0;
  #toCreate: NewSession | undefined;
  #settled: Promise<void> = Promise.resolve();
  #broken: StoreError | undefined;
  /** The last event that was passed to the store. */
  #head: number;
  /** The last event that the store has written. */
  #saved: number;
  #recovering: Promise<void> | undefined;
  #cancelLater: (() => void) | undefined;
  /** The newest events were passed to the store without the demand to write them at once. */
  #isGrouped = false;
  /** Set when the store is open; undefined if nothing is stored. */
  store: SessionStore | undefined;

  constructor(options: EventWriterOptions) {
    this.#options = options;
    this.#toCreate = options.create;
    this.#head = options.head ?? 0;
    this.#saved = this.#head;
  }

  /** Tells why nothing is written now. */
  get broken(): StoreError | undefined {
    return this.#broken;
  }

  /** The store has no row for the session yet. */
  get isNew(): boolean {
    return this.#toCreate !== undefined;
  }

  get savedTo(): number {
    return this.#saved;
  }

  get fence(): Fence {
    return { session: this.#options.session, head: this.#head };
  }

  /** Resolves when no recovery runs. */
  async recovered(): Promise<void> {
    await this.#recovering;
  }

  /** Resolves when the store has answered everything so far. */
  settled(): Promise<void> {
    return this.#settled;
  }

  add(events: readonly Envelope[]): void {
    this.#unsaved.push(...events);
  }

  /** Creates a new session with the events so far. Its title is the first input. */
  create(): void {
    const row = this.#toCreate;
    if (row === undefined) return;
    this.#toCreate = undefined;
    const written = this.#unsaved.find((each) => each.kind === "TurnStarted");
    const title = titleOf(written?.kind === "TurnStarted" ? firstText(written.payload.input) : "");
    this.#pass(
      (events) => this.store?.create({ ...row, ...(title !== "" && { title }) }, { events }),
      () => {
        this.#toCreate = row;
      },
    );
  }

  submitLater(): void {
    this.#cancelLater ??= this.#options.clock.after(TOGETHER_MS, () => this.submit("group"));
  }

  submit(durability: Durability): void {
    this.#cancelLater?.();
    this.#cancelLater = undefined;
    if (this.#toCreate !== undefined || this.#broken !== undefined) return;
    const append = (events: readonly Envelope[]) => this.store?.append(this.#options.session, events, durability);
    const hasMore = this.#submitted < this.#unsaved.length;
    if (hasMore) this.#pass(append);
    // The store may keep the last ones for a larger commit. A caller of `sync` does not wait for that.
    else if (durability === "sync" && this.#isGrouped) this.follow(append([]));
    this.#isGrouped = durability === "group" && (hasMore || this.#isGrouped);
  }

  /** Passes the events that the store does not have yet. */
  #pass(write: (events: readonly Envelope[]) => Promise<void> | undefined, undone?: () => void): void {
    const events = this.#unsaved.slice(this.#submitted);
    const last = events.at(-1)?.id;
    if (last === undefined) return;
    this.#submitted += events.length;
    this.#head = last;
    this.follow(write(events), {
      ...(undone && { undone }),
      done: () => {
        this.#saved = last;
        this.#unsaved.splice(0, events.length);
        this.#submitted -= events.length;
      },
    });
  }

  /** Waits for a write of the store in `settled`, and reports its failure. */
  follow(written: Promise<void> | undefined, then: { readonly done?: () => void; readonly undone?: () => void } = {}) {
    if (written === undefined) return;
    const followed = written.then(then.done, (error: unknown) => {
      then.undone?.();
      this.fail(error);
    });
    this.#settled = Promise.all([this.#settled, followed]).then(() => {});
  }

  fail(error: unknown): StoreError {
    const problem =
      error instanceof StoreError ? error : new StoreError("unavailable", String(error), { cause: error });
    if (this.#broken === undefined) {
      this.#broken = problem;
      this.#options.onFailure(problem);
    }
    return problem;
  }

  /** A new turn tries again: there may be room on the disk now. It does not if another process has the session. */
  tryAgain(): void {
    if (this.#broken === undefined) return;
    if (this.#broken.code === "conflict") this.#options.onFailure(this.#broken);
    else this.#recovering ??= this.#recover();
  }

  /** Finds out which events the store has, and writes the rest. */
  async #recover(): Promise<void> {
    await this.#settled;
    try {
      const { session } = this.#options;
      const record = await this.store?.get(session);
      const head = record?.last_event ?? 0;
      if (head > this.#head) {
        this.#broken = overtaken({ session, head: this.#head }, head);
        this.#options.onFailure(this.#broken);
        return;
      }
      this.#head = head;
      this.#saved = head;
      this.#unsaved = this.#unsaved.filter(({ id }) => id > head);
      this.#submitted = 0;
      this.#broken = undefined;
      if (record !== undefined) this.#toCreate = undefined;
      else this.create();
      this.submit("sync");
      await this.#settled;
    } catch (error) {
      this.fail(error);
    } finally {
      this.#recovering = undefined;
    }
  }
}

/** Blocks behind it are what the person shared with the prompt. */
function firstText(input: readonly InputContent[]): string {
  return input.find((block) => block.type === "text")?.text ?? "";
}

function titleOf(input: string): string {
  const line = input.trim().split("\n", 1)[0]?.trim() ?? "";
  return line.length > LONGEST_TITLE ? `${line.slice(0, LONGEST_TITLE - 1)}…` : line;
}
