/** The journal of a run. Its modules are loaded for the first event, after the first request. */

import type { Clock } from "../../base/clock.js";
import { LateConsumer } from "../../base/late-consumer.js";
import type { IdSource } from "../../base/ulid.js";
import type { RunJournal } from "../../chain/services.js";
import type { Model } from "../../engine/ports.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { Failure } from "../../protocol/errors.js";
import type { SessionId } from "../../protocol/ids.js";
import type { Journal } from "../../sessions/journal.js";
import { notSaved } from "../../sessions/not-saved.js";
import type { Lease, NewSession, SessionStore } from "../../sessions/store.js";
import { loadRedactor } from "../sessions/load-redactor.js";
import type { ResumedSession } from "../sessions/resumed-session.js";
import type { SessionStores } from "../sessions/session-stores.js";

export interface JournalParts {
  readonly session: SessionId;
  readonly resumed: ResumedSession | undefined;
  /** The call that it works for, if it is a subagent. */
  readonly parent?: NewSession["parent"];
  /** The name of the profile in use. */
  readonly profile?: string;
  readonly root: string;
  readonly model: Model;
  /** The model of the run, as soon as there is one. */
  readonly modelNow: () => Model | undefined;
  readonly sessions: SessionStores;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly onFailure: (failure: Failure) => void;
}

/** Long enough for the request to be sent, short enough to finish before most answers. */
const OPENING_DELAY_MS = 25;

export interface OpenedJournal extends RunJournal {
  /** Resolves when all recorded events are written, without ending the current answer. */
  saved(): Promise<void>;
  /** The last event that is in the log; infinite if the session is not stored. */
  savedTo(): number;
  /** Resolves when everything is written, or the failure was reported. */
  close(): Promise<void>;
}

/** For a resumed session the store is already open, so events are stored from the first one on. */
export async function openJournal(parts: JournalParts): Promise<OpenedJournal> {
  const lease = new RunLease(parts);
  const late = new LateConsumer({
    load: () => createJournal(parts, lease),
    consume: (journal, event: Envelope) => journal.record(event),
  });
  if (parts.resumed !== undefined) await (await late.ready()).prepare();
  return {
    record(event) {
      const isLoaded = late.consumer !== undefined;
      late.push(event);
      if (isLoaded) return;
      if (event.kind !== "TurnStarted") void late.ready();
      else parts.clock.after(OPENING_DELAY_MS, () => void late.ready());
    },
    ready: async () => (await late.ready()).ready(),
    intend: async (call, about) => (await late.ready()).intend(call, await about?.isWhole),
    editedConversation: async () => {
      // A new session is not visible to others yet.
      return late.consumer?.editedConversation();
    },
    takeWriteMs: () => late.consumer?.takeWriteMs() ?? 0,
    flush: async () => {
      if (late.isUsed) await (await late.ready()).flush();
    },
    saved: async () => {
      if (late.isUsed) await (await late.ready()).saved();
    },
    savedTo: () => late.consumer?.savedTo ?? parts.resumed?.record.last_event ?? 0,
    close: async () => {
      try {
        if (late.isUsed) await (await late.ready()).close();
      } finally {
        await lease.release();
      }
    },
  };
}

/** The session's lease: a resumed one has it, a new one takes it before it is created. */
class RunLease {
  readonly #session: SessionId;
  #lease: Promise<Lease> | undefined;

  constructor({ session, resumed }: JournalParts) {
    this.#session = session;
    this.#lease = resumed && Promise.resolve(resumed.lease);
  }

  async takeIn(store: SessionStore): Promise<void> {
    this.#lease ??= store.lease(this.#session).catch((error) => {
      this.#lease = undefined;
      throw error;
    });
    await this.#lease;
  }

  async release(): Promise<void> {
    await (await this.#lease?.catch(() => undefined))?.release();
  }
}

async function createJournal(parts: JournalParts, lease: RunLease): Promise<Journal> {
  const { session, resumed, root, model, sessions, clock, ids } = parts;
  const { Journal } = await import("../../sessions/journal.js");
  const record = resumed?.record;
  const created_at = new Date(clock.wall()).toISOString();
  const { provider, model: name } = record ?? model;
  const { parent, profile } = parts;
  const row = {
    id: session,
    log: ids.next("log"),
    cwd: root,
    provider,
    model: name,
    created_at,
    ...(parent && { parent }),
    ...(profile !== undefined && { profile }),
  };
  const verdicts = resumed?.calls.flatMap(({ call, verdict }) =>
    verdict === undefined ? [] : [[call, verdictNote(verdict)] as const],
  );
  return new Journal({
    session,
    ...(record === undefined && { create: row }),
    orphans: new Map(verdicts),
    behindSnapshot: resumed?.behindSnapshot ?? 0,
    model: `${provider}:${name}`,
    modelNow: parts.modelNow,
    clock,
    head: record?.last_event ?? 0,
    openStore: async () => {
      const store = await sessions.open();
      if (store !== undefined) await lease.takeIn(store);
      return store;
    },
    loadRedactor,
    onFailure: (error) => parts.onFailure(notSaved(error)),
  });
}

function verdictNote({ verdict, note }: NonNullable<ResumedSession["calls"][number]["verdict"]>): string {
  if (verdict === "applied" || verdict === "not applied") return `its changes were ${verdict}`;
  return note ?? `the user said: ${verdict}`;
}
