/**
 * Writes what happens in one run to the session store, and keeps the ledger of its calls.
 *
 * 1. Every event of the session is written once, in order, redacted. Input and the end of a turn are on the disk before anything
 *    else happens because of them; the rest follows within milliseconds.
 * 2. A call that changes something begins only after its intent, and everything that led to it, is on the disk. Its end is written
 *    in the same step as its result, during the next model request: nothing depends on it earlier.
 * 3. The store is opened with the first event. A session without a turn is not stored.
 * 4. After some turns, the journal takes a snapshot of the conversation for the next resume (snapshot.ts).
 * 5. The event writer keeps events that could not be written, and stops when another process has continued the session.
 */
import { createHash } from "node:crypto";
import type { Clock } from "../base/clock.js";
import { LateConsumer } from "../base/late-consumer.js";
import type { Message } from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import type { EventPayloads } from "../protocol/events.js";
import type { CallId, SessionId } from "../protocol/ids.js";
import type { JsonObject } from "../protocol/json.js";
import { EventWriter } from "./event-writer.js";
import { EventRedaction, type Redactor } from "./redacted-events.js";
import { isSnapshotDue, type NewSession, type SessionStore, type StoreError } from "./store.js";

export interface JournalOptions {
  readonly session: SessionId;
  /** The row to create with the first turn; undefined if the session already exists. */
  readonly create?: NewSession;
  /** Calls of an earlier run whose end is still to be written, with a note for the ledger. */
  readonly orphans?: ReadonlyMap<CallId, string | undefined>;
  /** Events of earlier runs behind the last snapshot. */
  readonly behindSnapshot?: number;
  /** PROVIDER:MODEL as the row has it. */
  readonly model: string;
  /** The model that the next turn uses: the person may have chosen another one since the session was opened. */
  readonly modelNow?: () => { readonly provider: string; readonly model: string } | undefined;
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

/** Events that a client relies on, and the end of a turn. */
const SYNCED: ReadonlySet<Envelope["kind"]> = new Set([
  "TurnStarted",
  "InputQueued",
  "CompactionTriggered",
  "TurnEnded",
]);

export class Journal {
  readonly #options: JournalOptions;
  readonly #writer: EventWriter;
  #store: SessionStore | undefined;
  #redaction: EventRedaction | undefined;
  /** Events that come before the store is open wait here. */
  readonly #late: LateConsumer<OpenedStore, Envelope>;
  #isOpen = false;
  /** Calls whose end is to be written, with the user's verdict. */
  readonly #intended: Map<CallId, string | undefined>;
  #model: string;
  /** The turn uses another route: the session's model stays. */
  #routed = false;
  #writeMs = 0;
  #behindSnapshot: number;
  #snapshot: Promise<void> | undefined;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#writer = new EventWriter(options);
    this.#model = options.model;
    this.#behindSnapshot = options.behindSnapshot ?? 0;
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
    if (isOpen && event.kind === "TurnStarted") this.#writer.tryAgain();
    this.#late.push(event);
    if (!isOpen) this.#open().catch(() => {});
  }

  /** The store is open. Rejects when it cannot be used. */
  ready(): Promise<void> {
    return this.#open();
  }

  /**
   * Before a call that changes something. Rejects when that cannot be written: the call must not run. `isWhole`: it has happened as a whole
   * or not at all, and the sandbox knows which.
   */
  async intend({ call, tool, args }: IntendedCall, isWhole = false): Promise<void> {
    await this.#open();
    const writer = this.#writer;
    await writer.recovered();
    const store = this.#store;
    if (store === undefined) return;
    if (writer.broken !== undefined) throw writer.broken;
    const from = this.#options.clock.now();
    const { session, clock } = this.#options;
    const args_hash = createHash("sha256").update(JSON.stringify(args)).digest("hex");
    const started_at = new Date(clock.wall()).toISOString();
    try {
      // In one commit with the events that led to it.
      writer.submit("group");
      await store.intend(
        { call, session, tool, args_hash, mutating: true, whole: isWhole || undefined, started_at },
        writer.fence,
      );
      await writer.settled();
    } catch (error) {
      writer.fail(error);
    }
    if (writer.broken !== undefined) throw writer.broken;
    this.#intended.set(call, undefined);
    this.#writeMs += clock.now() - from;
  }

  /** The conversation as people edited it between two turns, if the store supports that. */
  async editedConversation(): Promise<readonly Message[] | undefined> {
    if (this.#writer.isNew) return undefined;
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
    const writer = this.#writer;
    await writer.recovered();
    if (this.#store !== undefined && writer.broken === undefined) {
      writer.add(this.#redaction?.end() ?? []);
      writer.submit("sync");
    }
    await writer.settled();
    if (writer.broken !== undefined) throw writer.broken;
  }

  /** The last event that a killed process would leave in the log; infinite if nothing is stored. */
  get savedTo(): number {
    return this.#isOpen && this.#store === undefined ? Number.POSITIVE_INFINITY : this.#writer.savedTo;
  }

  /** Resolves when everything so far is written, except text that is held back, or throws the reason. */
  async saved(): Promise<void> {
    await this.#open();
    const writer = this.#writer;
    await writer.recovered();
    if (!writer.isNew && !this.#routed) this.#nameModel(this.#options.modelNow?.());
    writer.submit("group");
    await writer.settled();
    if (writer.broken !== undefined) throw writer.broken;
  }

  /** Like `flush`, and nothing is in progress afterwards. Failures were reported. */
  async close(): Promise<void> {
    await this.flush().catch(() => {});
    await this.#snapshot;
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
      this.#writer.store = store;
      this.#redaction = new EventRedaction(redactor);
      this.#isOpen = true;
      return { store };
    } catch (error) {
      throw this.#writer.fail(error);
    }
  }

  #accept(event: Envelope): void {
    const writer = this.#writer;
    writer.add(this.#redaction?.take(event) ?? []);
    if (writer.broken !== undefined) return;
    if (event.kind === "TurnStarted") writer.create();
    if (event.kind === "TurnStarted") this.#routed = event.payload.route !== undefined;
    if (event.kind === "TurnStarted" && !this.#routed) this.#nameModel(this.#options.modelNow?.());
    if (event.kind === "AnswerEnded" && !this.#routed) this.#nameModel(event.payload);
    if (event.kind === "TurnEnded") this.#routed = false;
    if (SYNCED.has(event.kind)) writer.submit("sync");
    else writer.submitLater();
    if (event.kind === "ToolResult" && this.#intended.has(event.payload.call)) this.#conclude(event);
    this.#behindSnapshot++;
    if (event.kind === "TurnEnded" && isSnapshotDue(this.#behindSnapshot, event.id)) {
      this.#snapshot ??= this.#takeSnapshot();
    }
  }

  /** A failure here only affects a copy; the next resume makes it again. */
  async #takeSnapshot(): Promise<void> {
    this.#behindSnapshot = 0;
    try {
      await this.#writer.settled();
      const { takeSnapshot } = await import("./snapshot.js");
      if (this.#store !== undefined) this.#behindSnapshot += await takeSnapshot(this.#store, this.#options.session);
    } catch {
    } finally {
      this.#snapshot = undefined;
    }
  }

  /** The row names the model or route that was used last; a resumed session uses it again. */
  #nameModel(answered: Pick<EventPayloads["AnswerEnded"], "provider" | "model" | "route"> | undefined): void {
    if (answered === undefined) return;
    const { route } = answered;
    const { provider, model } = route === undefined ? answered : { provider: "route", model: route };
    const name = `${provider}:${model}`;
    if (this.#model === name) return;
    this.#model = name;
    this.#writer.follow(this.#store?.update(this.#options.session, { provider, model }));
  }

  /** In the same commit as the result that was just appended. */
  #conclude(event: Extract<Envelope, { kind: "ToolResult" }>): void {
    const writer = this.#writer;
    writer.submit("group");
    const { call, status } = event.payload;
    const note = this.#intended.get(call);
    this.#intended.delete(call);
    const conclusion = { outcome: status, completed_at: event.ts, result_event: event.id };
    writer.follow(this.#store?.conclude(call, { ...conclusion, ...(note !== undefined && { note }) }, writer.fence));
  }

  #measure(work: () => void): void {
    const from = this.#options.clock.now();
    work();
    this.#writeMs += this.#options.clock.now() - from;
  }
}
