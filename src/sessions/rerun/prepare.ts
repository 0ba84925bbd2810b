/** Makes the session that runs turns of another one again: a copy up to the turn before, with the inputs to send. */
import { UsageError } from "../../base/usage-error.js";
import type { InputContent } from "../../protocol/content.js";
import type { EventPayloads } from "../../protocol/events.js";
import type { ClientId, SessionId } from "../../protocol/ids.js";
import { branchIds, type TurnSummary, turnsOf } from "../branch.js";
import { type NewSession, type SessionRecord, type SessionStore, StoreError } from "../store.js";

/** The turns to run again. */
export interface RerunTurns {
  /** Up to here the new session is a copy; 0 for nothing. */
  readonly after: number;
  readonly first: TurnSummary;
  /** The input of each turn. */
  readonly inputs: readonly (readonly InputContent[])[];
  /** Names what does not come again, as sentences. */
  readonly notes: readonly string[];
}

export async function turnsToRun(
  store: SessionStore,
  { id }: SessionRecord,
  { from, to }: { readonly from: number; readonly to: number | undefined },
): Promise<RerunTurns> {
  let before: TurnSummary | undefined;
  let last: TurnSummary | undefined;
  const turns: TurnSummary[] = [];
  for await (const turn of turnsOf(store.events(id))) {
    last = turn;
    if (turn.number === from - 1) before = turn;
    if (turn.number >= from && turn.number <= (to ?? turn.number)) turns.push(turn);
  }
  const [first] = turns;
  if (last === undefined) throw new UsageError(`${id} has no turns.`);
  if (to !== undefined && to < from) throw new UsageError("--to is before --from.");
  if (first === undefined || (to !== undefined && to > last.number))
    throw new UsageError(`${id} has no turn ${first === undefined ? from : to}; the last one is ${last.number}.`);
  if (before !== undefined && before.endEvent === undefined)
    throw new UsageError(`Turn ${before.number} of ${id} has no end, so no copy can end there.`);
  const inputs: (readonly InputContent[])[] = [];
  const starts = new Set(turns.map(({ startEvent }) => startEvent));
  let steered = 0;
  for await (const event of store.events(id, { after: first.startEvent - 1 })) {
    if (event.kind === "TurnStarted" && !starts.has(event.id)) break;
    if (event.kind === "TurnStarted") inputs.push(event.payload.input);
    if (event.kind === "InputSteered") steered++;
  }
  const notes = steered === 0 ? [] : ["What was sent while a turn ran is not sent again."];
  return { after: before?.endEvent ?? 0, first, inputs, notes };
}

export interface Copy extends Pick<NewSession, "cwd" | "created_at" | "title"> {
  readonly by: ClientId;
  readonly begun: Omit<EventPayloads["RerunBegan"], "of">;
}

/** Makes the copy, which says what it is; another one at the same place gets the next ids. */
export async function makeCopy(store: SessionStore, source: SessionRecord, copy: Copy): Promise<SessionId> {
  const { by, begun, ...own } = copy;
  const { after } = begun;
  const { provider, model, profile } = source;
  for (let number = 0; ; number++) {
    const ids = branchIds({ session: source.id, log: source.log }, after, number);
    const session = {
      ...{ id: ids.session, log: ids.log, provider, model, ...own },
      ...(profile !== undefined && { profile }),
      branch_of: { session: source.id, event: after },
    };
    const payload = { of: source.id, ...begun };
    const event = {
      id: after + 1,
      kind: "RerunBegan",
      session: session.id,
      originator: by,
      ts: own.created_at,
      payload,
    } as const;
    try {
      if (after === 0) await store.create(session, { events: [event] });
      else {
        await store.branch(session);
        await withLease(store, session.id, () => store.append(session.id, [event], "sync"));
      }
      return ids.session;
    } catch (error) {
      if (!(error instanceof StoreError) || !TAKEN.has(error.code)) throw error;
    }
  }
}

async function withLease(store: SessionStore, session: SessionId, work: () => Promise<void>): Promise<void> {
  const lease = await store.lease(session);
  try {
    await work();
  } finally {
    await lease.release();
  }
}

/** Another process has made a copy with the same id, or is about to. */
const TAKEN: ReadonlySet<string> = new Set(["conflict", "leased"]);
