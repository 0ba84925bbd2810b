/** Describes what clients ask about the past of a session: its turns, its changes, what it cost, and other sessions beside it. */
import { linesBy, total, withKnownCost } from "../../costs/report.js";
import type { SessionId } from "../../protocol/ids.js";
import type { Comparison, Queries, TurnInfo } from "../../protocol/queries.js";
import { compare } from "../../sessions/rerun/compare.js";
import { type ChangedLines, type TurnFacts, turnFacts } from "../../sessions/rerun/turn-facts.js";
import { type SessionRecord, type SessionStore, StoreError } from "../../sessions/store.js";
import { BEGINNING, changesBetween, type Moment, momentAfter, NOW, PastFiles } from "../../sessions/undo/past.js";
import type { SessionStores } from "./session-stores.js";

type Stores = Pick<SessionStores, "open" | "undoJournal">;

export async function turnsOf(store: SessionStore, session: SessionId): Promise<readonly TurnFacts[]> {
  const turns: TurnFacts[] = [];
  for await (const turn of turnFacts(store.events(session))) turns.push(turn);
  return turns;
}

/** Undefined where nothing is stored. */
export async function changesOf(
  stores: Stores,
  session: SessionId,
  { since, until }: Queries["GetChanges"]["request"],
): Promise<Queries["GetChanges"]["answer"] | undefined> {
  const store = await stores.open();
  const record = await store?.get(session);
  if (store === undefined) return undefined;
  if (record === undefined) return { files: [], notes: [] };
  const from = since === undefined ? BEGINNING : await momentAfter(store, session, since);
  const to = until === undefined ? NOW : await momentAfter(store, session, until);
  return withPastFiles(stores, record, (past) => ({
    files: changesBetween(past, from, to),
    notes: past.notes(from, to),
  }));
}

/** Reads the undo journal of a session. */
export async function withPastFiles<T>(
  stores: Pick<Stores, "undoJournal">,
  { id, cwd }: Pick<SessionRecord, "id" | "cwd">,
  work: (past: PastFiles) => T | Promise<T>,
): Promise<T> {
  const journal = await stores.undoJournal(id);
  try {
    return await work(new PastFiles(journal, cwd));
  } finally {
    journal.close();
  }
}

export async function compareSessions(stores: Stores, sessions: readonly SessionId[]): Promise<Comparison> {
  const store = await stores.open();
  if (store === undefined) throw new StoreError("not-found", "Sessions are not stored here ('none').");
  const compared = [];
  for (const id of sessions) {
    const record = await store.get(id);
    if (record === undefined) throw new StoreError("not-found", `There is no session ${id}.`);
    const turns = await turnsOf(store, id);
    compared.push({ record, turns, filesOf: await filesByTurn(stores, record, turns) });
  }
  return compare(compared);
}

/** The undo records also know what commands did; the results of calls say how many lines edits changed where a content is gone. */
async function filesByTurn(stores: Stores, record: SessionRecord, turns: readonly TurnFacts[]) {
  const known = await withPastFiles(stores, record, (past) => {
    const changes = turns.map(({ info }) => changesBetween(past, before(info), after(info)));
    return new Map(turns.map(({ info: { turn } }, index) => [turn, changes[index] ?? []]));
  });
  return ({ info, files }: TurnFacts): readonly ChangedLines[] | undefined => {
    const changes = known.get(info.turn) ?? [];
    if (changes.length === 0) return undefined;
    const told = new Map(files.map((file) => [file.path, file]));
    return changes
      .filter(({ kind }) => kind !== "folder")
      .map(({ path, change, added, removed }) => {
        if (added === undefined || removed === undefined) return { ...told.get(path), path, change };
        return { path, change, added, removed };
      });
  };
}

function before({ started_at }: TurnInfo): Moment {
  const time = Date.parse(started_at);
  return ({ at }) => at < time;
}

function after({ started_at, elapsed_ms }: TurnInfo): Moment {
  if (elapsed_ms === undefined) return NOW;
  const time = Date.parse(started_at) + elapsed_ms;
  return ({ at }) => at <= time;
}

/** Tells what is spent in sessions that the client sees. */
export async function costsOf(
  stores: Stores,
  { by = "model", since, session }: Queries["GetCosts"]["request"] & { readonly session?: SessionId },
  sees: (session: SessionId, cwd: string) => boolean,
): Promise<Queries["GetCosts"]["answer"] | undefined> {
  const store = await stores.open();
  if (store === undefined) return undefined;
  if (since !== undefined && Number.isNaN(Date.parse(since)))
    throw new StoreError("invalid", `"since" must be a time.`);
  const from = since === undefined ? undefined : new Date(since).toISOString();
  const all = await store.spending({
    ...(from !== undefined && { since: from }),
    ...(session !== undefined && { session }),
  });
  const rows = all.filter((row) => sees(row.session, row.cwd));
  return { total: withKnownCost({ name: "total", ...total(rows) }), lines: linesBy(rows, by).map(withKnownCost) };
}
