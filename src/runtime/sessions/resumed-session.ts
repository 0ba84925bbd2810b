/** Prepares a stored session for a new run, or says why it cannot be resumed. */
import { shorten } from "../../base/cap-text.js";
import type { CutOffCall } from "../../control/cut-off-turn.js";
import { withReplaced } from "../../control/replaced-ids.js";
import type { Bus } from "../../engine/bus.js";
import type { EnginePorts } from "../../engine/ports.js";
import type { CommandPayloads } from "../../protocol/commands.js";
import type { Message } from "../../protocol/content.js";
import type { Envelope } from "../../protocol/envelope.js";
import { type Failure, failure } from "../../protocol/errors.js";
import type { EventRange } from "../../protocol/events.js";
import type { CallId, SessionId } from "../../protocol/ids.js";
import type { StoredSession } from "../../sessions/resume.js";
import { type Lease, type SessionRecord, type SessionStore, StoreError } from "../../sessions/store.js";
import type { SessionStores } from "./session-stores.js";

export interface ResumedSession extends StoredSession {
  readonly calls: readonly CutOffCall[];
  /** Its last run did not end in order: clients may have seen events that were not saved. */
  readonly wasCutOff: boolean;
  /** The ids that such events may have had. */
  readonly replaced: readonly EventRange[];
  /** The time of the last event, if there are such ids. */
  readonly lastAt: string | undefined;
  /** Taken before anything is read, so the session cannot change meanwhile. */
  readonly lease: Lease;
}

type Request = CommandPayloads["CreateSession"] & { readonly resume: SessionId };

/** Describes how these calls ended. Those that are missing are not known. */
export type WholeEnds = (calls: readonly CallId[]) => Promise<ReadonlyMap<string, NonNullable<CutOffCall["verdict"]>>>;

/** Undefined: nothing of it is stored, and its client begins it anew. */
export async function resumeSession(
  sessions: SessionStores,
  { resume: session, orphans: answer, start }: Request,
  wholeEnds?: WholeEnds,
): Promise<ResumedSession | undefined | { readonly failure: Failure }> {
  try {
    const store = await sessions.open();
    // Checks first: otherwise it would lease a session that does not exist.
    if ((await store?.get(session)) === undefined || store === undefined) {
      return start?.anew === true ? undefined : { failure: failure("SessionNotFound", { session }) };
    }
    const lease = await store.lease(session);
    try {
      const resumed = await readLeased(store, { session, answer, wholeEnds });
      if ("failure" in resumed) await lease.release();
      if ("failure" in resumed) return resumed;
      const wasCutOff = (await store.last(session, "SessionEnded")) !== resumed.record.last_event;
      const replaced = await replacedIds(store, { session, wasCutOff, last: resumed.record.last_event });
      const { eventAt } = await import("../../sessions/snapshot.js");
      const last = replaced.length === 0 ? undefined : await eventAt(store, session, resumed.record.last_event);
      // A person who ended a session in which everything was allowed has to allow it again.
      const mode = resumed.mode === "allow" && !wasCutOff ? undefined : resumed.mode;
      return { ...resumed, mode, wasCutOff, replaced, lastAt: last?.ts, lease };
    } catch (error) {
      await lease.release();
      throw error;
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (error.code === "leased") return { failure: failure("SessionLeased", { session, detail: error.message }) };
    if (error.code === "not-found") return { failure: failure("SessionNotFound", { session }) };
    return { failure: failure("SessionUnreadable", { session, detail: error.message }) };
  }
}

/** The last SessionContinued has all earlier ones. */
async function replacedIds(
  store: SessionStore,
  { session, wasCutOff, last }: { readonly session: SessionId; readonly wasCutOff: boolean; readonly last: number },
): Promise<readonly EventRange[]> {
  const { eventAt } = await import("../../sessions/snapshot.js");
  const event = await eventAt(store, session, await store.last(session, "SessionContinued"));
  const earlier = event?.kind === "SessionContinued" ? event.payload.replaced : [];
  return wasCutOff ? withReplaced(earlier, last) : earlier;
}

async function readLeased(
  store: SessionStore,
  {
    session,
    answer,
    wholeEnds,
  }: { readonly session: SessionId; readonly answer: Request["orphans"]; readonly wholeEnds: WholeEnds | undefined },
): Promise<Omit<ResumedSession, "lease" | "wasCutOff" | "replaced" | "lastAt"> | { readonly failure: Failure }> {
  const { readStoredSession } = await import("../../sessions/resume.js");
  const stored = await readStoredSession(store, session);
  if (stored.orphans.size === 0) return { ...stored, calls: stored.rebuilt.open };
  const whole = [...stored.orphans.values()].filter((intent) => intent.whole).map(({ call }) => call);
  const known = whole.length === 0 ? new Map() : ((await wholeEnds?.(whole)) ?? new Map());
  const asked = new Map([...stored.orphans].filter(([call]) => !known.has(call)));
  if (answer === undefined && asked.size > 0)
    return { failure: failure("OrphanedCalls", { calls: describe({ ...stored, orphans: asked }) }) };
  if (answer?.verdict === "abort") {
    await store.update(session, { ended: "user" });
    return { failure: failure("SessionAborted", { session }) };
  }
  const byUser = answer && { verdict: answer.verdict, ...(answer.note !== undefined && { note: answer.note }) };
  const calls = stored.rebuilt.open.map((call) => {
    const verdict = known.get(call.call) ?? (asked.has(call.call) ? byUser : undefined);
    return verdict === undefined ? call : { ...call, verdict };
  });
  return { ...stored, calls };
}

/** Ends the log so that a new turn can follow; returns the conversation so far. */
export async function takeUp(
  { rebuilt, calls, gap }: ResumedSession,
  { bus, ports }: { readonly bus: Bus; readonly ports: EnginePorts },
): Promise<readonly Message[]> {
  if (gap !== undefined) bus.publish("StreamGap", { ...gap, reason: "ttl" });
  if (rebuilt.unfinished === undefined) return rebuilt.messages;
  const [{ endCutOffTurn }, { withResults }] = await Promise.all([
    import("../../control/cut-off-turn.js"),
    import("../../sessions/conversation.js"),
  ]);
  return withResults(
    rebuilt,
    await endCutOffTurn({ bus, ports, calls, questions: rebuilt.questions, turn: rebuilt.unfinished }),
  );
}

/** The last events are enough for the audit; reading a whole log would take long. */
const MOST_PAST = 20_000;

/** The last events of the earlier runs of a session, oldest first. */
export async function* pastEvents(sessions: SessionStores, { id, last_event }: SessionRecord): AsyncIterable<Envelope> {
  const store = await sessions.open();
  if (store === undefined || last_event === 0) return;
  const after = Math.max(0, last_event - MOST_PAST);
  yield* store.events(id, { after, limit: last_event - after });
}

/** `bash 'rm -rf build' (started 2026-01-31 12:00:00 UTC) was running` */
function describe({ rebuilt, orphans }: StoredSession): string {
  const running = rebuilt.open.flatMap(({ call, tool, args }) => {
    const intent = orphans.get(call);
    if (intent === undefined) return [];
    const isExpired = Object.keys(args).length === 0;
    const words = typeof args.command === "string" ? args.command : isExpired ? "(expired)" : JSON.stringify(args);
    const shown = shorten(words, 200);
    return [`${tool} '${shown}' (started ${intent.started_at.slice(0, 19).replace("T", " ")} UTC)`];
  });
  return `${running.join(" and ")} ${running.length === 1 ? "was" : "were"} running`;
}
