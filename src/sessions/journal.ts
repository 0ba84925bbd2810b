/**
 * Writes what happens in one run to the session store, and keeps the ledger of its calls.
 *
 * 1. Every event of the session is written once, in order, redacted. Input and the end of a turn are on the disk before anything
 *    else happens because of them; the rest follows within milliseconds.
 * 2. A call that changes something begins only after its intent, and everything that led to it, is on the disk. Its end is written
 *    in the same step as its result, during the next model request: nothing depends on it earlier.
 * 3. The store is opened with the first event. A session without a turn is not stored.
 * 4. After some turns, the journal condenses the new events for the next resume (condense.ts).
 * 5. When writing fails, the run gets the failure at once, events wait in memory, and the next turn writes them first.
 * 6. Intents and conclusions name the last event that this journal gave to the store. When the store has another one, or the lease is
 *    lost, another process has continued the session. That is final: this journal writes nothing more, so two histories never mix.
 */
import { createHash } from "node:crypto";
import type { Clock } from "../base/clock.js";
import { LateConsumer } from "../base/late-consumer.js";
import type { Message } from "../protocol/content.js";
import { plainText } from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import type { EventPayloads } from "../protocol/events.js";
import type { CallId, SessionId } from "../protocol/ids.js";
import type { JsonObject } from "../protocol/json.js";
import { EventRedaction, type Redactor } from "./redacted-events.js";
import { type Durability, type NewSession, type SessionStore, STRETCH_EVENTS, StoreError } from "./store.js";
import { overtaken } from "./write-conflict.js";

export interface JournalOptions {
  readonly session: SessionId;
  /** The row to create with the first turn; undefined if the session already exists. */
  readonly create?: NewSession;
  /** Calls of an earlier run whose end is still to be written, with a note for the ledger. */
  readonly orphans?: ReadonlyMap<CallId, string | undefined>;
  /** Events of earlier runs that are not condensed yet. */
  readonly uncondensed?: number;
  /** PROVIDER:MODEL as the row has it. */
  readonly model: string;
  /** The last event of the log when the session was read; 0 for a new one. */
  readonly head?: number;
  /** Called once, late. Returns undefined if nothing is to be stored. */
  readonly openStore: () => Promise<SessionStore | undefined>;
  readonly loadRedactor: () => Promise<Redactor>;
  readonly clock: Clock;
  readonly onFailure: (error: StoreError) => void;
}

export interface IntendedCall {
  readonly call: CallId;
  readonly tool: string;
  readonly args: JsonObject;
}

interface OpenedStore {
  /** Undefined if nothing is to be stored. */
  readonly store: SessionStore | undefined;
}

const LONGEST_TITLE = 80;
/** Each write to the store takes time, so events that nothing waits for are written together. */
const TOGETHER_MS = 25;

/** Events that a client relies on, and the end of a turn. */
const SYNCED: ReadonlySet<Envelope["kind"]> = new Set([
  "TurnStarted",
  "InputQueued",
  "CompactionTriggered",
  "TurnEnded",
]);

export class Journal {
  readonly #options: JournalOptions;
  /** Not yet acknowledged by the store, oldest first. */
  #unsaved: Envelope[] = [];
  /** How many of those were passed to the store. */
  #submitted = 0;
  #store: SessionStore | undefined;
  #redaction: EventRedaction | undefined;
  #toCreate: NewSession | undefined;
  /** Events that come before the store is open wait here. */
  readonly #late: LateConsumer<OpenedStore, Envelope>;
  #isOpen = false;
  #settled: Promise<void> = Promise.resolve();
  #broken: StoreError | undefined;
  /** The last event that was passed to the store. */
  #head: number;
  /** The last event that the store has written. */
  #saved: number;
  #recovering: Promise<void> | undefined;
  /** Calls whose end is to be written, with the user's verdict. */
  readonly #intended: Map<CallId, string | undefined>;
  #model: string;
  /** The turn uses another route: the session's model stays. */
  #routed = false;
  #writeMs = 0;
  #cancelLater: (() => void) | undefined;
  #uncondensed: number;
  #condensing: Promise<void> | undefined;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#toCreate = options.create;
    this.#head = options.head ?? 0;
    this.#saved = this.#head;
    this.#model = options.model;
    this.#uncondensed = options.uncondensed ?? 0;
    this.#intended = new Map(options.orphans);
    this.#late = new LateConsumer({
      load: () => this.#openStore(),
      consume: ({ store }, event) => {
        if (store !== undefined) this.#measure(() => this.#accept(event));
      },
    });
  }

  record(event: Envelope): void {
    const isOpen = this.#isOpen;
    if (isOpen && event.kind === "TurnStarted" && this.#broken !== undefined) this.#tryAgain(this.#broken);
    this.#late.push(event);
    if (!isOpen) this.#open().catch(() => {});
  }

  /** The store is open. Rejects when it cannot be used. */
  ready(): Promise<void> {
    return this.#open();
  }

  /** Before a call that changes something. Rejects when that cannot be written: the call must not run. */
  async intend({ call, tool, args }: IntendedCall): Promise<void> {
    await this.#open();
    await this.#recovering;
    const store = this.#store;
    if (store === undefined) return;
    if (this.#broken !== undefined) throw this.#broken;
    const from = this.#options.clock.now();
    const { session, clock } = this.#options;
    const args_hash = createHash("sha256").update(JSON.stringify(args)).digest("hex");
    const started_at = new Date(clock.wall()).toISOString();
    try {
      // In one commit with the events that led to it.
      this.#submit("group");
      const fence = { session, head: this.#head };
      await store.intend({ call, session, tool, args_hash, mutating: true, started_at }, fence);
      await this.#settled;
    } catch (error) {
      this.#fail(error);
    }
    if (this.#broken !== undefined) throw this.#broken;
    this.#intended.set(call, undefined);
    this.#writeMs += clock.now() - from;
  }

  /** The conversation as people edited it between two turns, if the store supports that. */
  async editedConversation(): Promise<readonly Message[] | undefined> {
    if (this.#toCreate !== undefined) return undefined;
    await this.#open();
    return this.#store?.editedConversation?.(this.#options.session);
  }

  /** Milliseconds spent on writing since the last call. */
  takeWriteMs(): number {
    const spent = this.#writeMs;
    this.#writeMs = 0;
    return spent;
  }

  /** Everything recorded is written, or the reason why not is thrown. */
  async flush(): Promise<void> {
    if (!this.#late.isUsed) return;
    await this.#open();
    await this.#recovering;
    if (this.#store !== undefined && this.#broken === undefined) {
      this.#unsaved.push(...(this.#redaction?.end() ?? []));
      this.#submit("sync");
    }
    await this.#settled;
    if (this.#broken !== undefined) throw this.#broken;
  }

  /** The last event that a killed process would leave in the log; infinite if nothing is stored. */
  get savedTo(): number {
    return this.#isOpen && this.#store === undefined ? Number.POSITIVE_INFINITY : this.#saved;
  }

  /** Resolves when everything so far is written, except a delta that is held back, or throws the reason. */
  async saved(): Promise<void> {
    await this.#open();
    await this.#recovering;
    this.#submit("group");
    await this.#settled;
    if (this.#broken !== undefined) throw this.#broken;
  }

  /** Like `flush`, and nothing is in progress afterwards. Failures were reported. */
  async close(): Promise<void> {
    await this.flush().catch(() => {});
    await this.#condensing;
  }

  /** Opens the store early, so that the first event does not wait. A failure is reported, and that event tries again. */
  async prepare(): Promise<void> {
    await this.#open().catch(() => {});
  }

  async #open(): Promise<void> {
    await this.#late.ready();
  }

  async #openStore(): Promise<OpenedStore> {
    const { openStore, loadRedactor } = this.#options;
    try {
      const [store, redactor] = await Promise.all([openStore(), loadRedactor()]);
      this.#store = store;
      this.#redaction = new EventRedaction(redactor);
      this.#isOpen = true;
      return { store };
    } catch (error) {
      throw this.#fail(error);
    }
  }

  #accept(event: Envelope): void {
    const ready = this.#redaction?.take(event) ?? [];
    this.#unsaved.push(...ready);
    if (this.#broken !== undefined) return;
    if (event.kind === "TurnStarted") this.#create();
    if (event.kind === "TurnStarted") this.#routed = event.payload.route !== undefined;
    if (event.kind === "AnswerEnded" && !this.#routed) this.#nameModel(event.payload);
    if (SYNCED.has(event.kind)) this.#submit("sync");
    else this.#cancelLater ??= this.#options.clock.after(TOGETHER_MS, () => this.#submit("group"));
    if (event.kind === "ToolResult" && this.#intended.has(event.payload.call)) this.#conclude(event);
    this.#uncondensed++;
    if (event.kind === "TurnEnded" && this.#uncondensed >= STRETCH_EVENTS) this.#condensing ??= this.#condense();
  }

  /** A failure here only affects a copy; the next resume makes it again. */
  async #condense(): Promise<void> {
    this.#uncondensed = 0;
    try {
      await this.#settled;
      const { condenseSession } = await import("./condense.js");
      if (this.#store !== undefined) this.#uncondensed += await condenseSession(this.#store, this.#options.session);
    } catch {
    } finally {
      this.#condensing = undefined;
    }
  }

  #create(): void {
    const row = this.#toCreate;
    if (row === undefined) return;
    this.#toCreate = undefined;
    const written = this.#unsaved.find((each) => each.kind === "TurnStarted");
    const title = titleOf(written?.kind === "TurnStarted" ? plainText(written.payload.input) : "");
    this.#follow(this.#store?.create({ ...row, ...(title !== "" && { title }) }), {
      undone: () => {
        this.#toCreate = row;
      },
    });
  }

  /** The row names the model or route that answered last; a resumed session uses it again. */
  #nameModel(answered: EventPayloads["AnswerEnded"]): void {
    const { route } = answered;
    const { provider, model } = route === undefined ? answered : { provider: "route", model: route };
    const name = `${provider}:${model}`;
    if (this.#model === name) return;
    this.#model = name;
    this.#follow(this.#store?.update(this.#options.session, { provider, model }));
  }

  #submit(durability: Durability): void {
    this.#cancelLater?.();
    this.#cancelLater = undefined;
    if (this.#toCreate !== undefined || this.#broken !== undefined) return;
    const events = this.#unsaved.slice(this.#submitted);
    if (events.length === 0) return;
    this.#submitted += events.length;
    const last = events.at(-1)?.id ?? this.#head;
    this.#head = last;
    const written = this.#store?.append(this.#options.session, events, durability);
    this.#follow(written, {
      done: () => {
        this.#saved = last;
        this.#unsaved.splice(0, events.length);
        this.#submitted -= events.length;
      },
    });
  }

  /** In the same commit as the result that was just appended. */
  #conclude(event: Extract<Envelope, { kind: "ToolResult" }>): void {
    this.#submit("group");
    const { call, status } = event.payload;
    const note = this.#intended.get(call);
    this.#intended.delete(call);
    const conclusion = { outcome: status, completed_at: event.ts, result_event: event.id };
    const fence = { session: this.#options.session, head: this.#head };
    this.#follow(this.#store?.conclude(call, { ...conclusion, ...(note !== undefined && { note }) }, fence));
  }

  #follow(written: Promise<void> | undefined, then: { readonly done?: () => void; readonly undone?: () => void } = {}) {
    if (written === undefined) return;
    const followed = written.then(then.done, (error: unknown) => {
      then.undone?.();
      this.#fail(error);
    });
    this.#settled = Promise.all([this.#settled, followed]).then(() => {});
  }

  #fail(error: unknown): StoreError {
    const problem =
      error instanceof StoreError ? error : new StoreError("unavailable", String(error), { cause: error });
    if (this.#broken === undefined) {
      this.#broken = problem;
      this.#options.onFailure(problem);
    }
    return problem;
  }

  /** A new turn tries again: there may be room on the disk now. It does not if another process has the session. */
  #tryAgain(broken: StoreError): void {
    if (broken.code === "conflict") this.#options.onFailure(broken);
    else this.#recovering ??= this.#recover();
  }

  /** Finds out which events the store has, and writes the rest. */
  async #recover(): Promise<void> {
    await this.#settled;
    try {
      const { session } = this.#options;
      const record = await this.#store?.get(session);
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
      else this.#create();
      this.#submit("sync");
      await this.#settled;
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#recovering = undefined;
    }
  }

  #measure(work: () => void): void {
    const from = this.#options.clock.now();
    work();
    this.#writeMs += this.#options.clock.now() - from;
  }
}

function titleOf(input: string): string {
  const line = input.trim().split("\n", 1)[0]?.trim() ?? "";
  return line.length > LONGEST_TITLE ? `${line.slice(0, LONGEST_TITLE - 1)}…` : line;
}
