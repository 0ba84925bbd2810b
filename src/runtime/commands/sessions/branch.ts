import { UsageError } from "../../../base/usage-error.js";
import { asValue, type CommandArguments } from "../../../commands/command.js";
import type { CallId, SessionId } from "../../../protocol/ids.js";
import { branchEvents, derivedId, nextBranchIds } from "../../../sessions/branch.js";
import { type SessionRecord, type SessionStore, StoreError } from "../../../sessions/store.js";
import { copySession } from "./copy-session.js";
import { named, type OpenPort, type SessionAction } from "./port.js";
import { findTurn, turnNumber } from "./turn-number.js";

/** It exists, or another process is making it. */
async function isTaken(store: SessionStore, session: SessionId): Promise<boolean> {
  if ((await store.get(session)) !== undefined) return true;
  try {
    await (await store.lease(session)).release();
    return false;
  } catch (error) {
    if (error instanceof StoreError && error.code === "leased") return true;
    throw error;
  }
}

export const branch: SessionAction = async (args, port, { progress, surface }) => {
  const { store, clock } = port;
  const { session, turn } = wanted(args);
  const source = await named(session, port);
  const at = await endOf(source, turn, port);
  const from = { session: source.id, log: source.log };
  const ids = await nextBranchIds(from, at, (session) => isTaken(store, session));
  const title = args.flag("title") ?? source.title;
  const { cwd, provider, model, profile } = source;
  const created_at = new Date(clock.wall()).toISOString();
  const branch_of = { session: source.id, event: at };
  const row = { id: ids.session, log: ids.log, cwd, provider, model, created_at, branch_of };
  const callOf = (call: CallId) => derivedId("call", call, ids.log);
  await copySession(store, {
    session: { ...row, ...(title !== undefined && { title }), ...(profile !== undefined && { profile }) },
    events: branchEvents(store.events(source.id), { from: source.id, ...ids, at }),
    finish: async () => store.copyEdits?.(source.id, ids.session, { upTo: at, callOf }),
    progress,
  });
  const made = await store.get(ids.session);
  const next = surface === "slash" ? `/resume ${ids.session}` : `'oxbow resume ${ids.session}'`;
  const text = `${ids.session} is a copy of ${source.id} up to event ${at}. ${next} continues it.`;
  return { text, value: asValue(made ?? { id: ids.session }) };
};

/** `ID`, `ID at TURN`, or in a conversation `at TURN`; `--turn` means the same. */
function wanted(args: CommandArguments): { readonly session?: string; readonly turn?: string } {
  const id = args.text("ID");
  const words = [...(id === undefined ? [] : [id]), ...args.list("at TURN")];
  const at = words.indexOf("at");
  const [session, more] = at === -1 ? words : words.slice(0, at);
  const after = at === -1 ? [] : words.slice(at + 1);
  if (more !== undefined || (at !== -1 && after.length !== 1)) {
    throw new UsageError("Give a session and the last turn to copy: ID at TURN");
  }
  const turn = args.flag("turn") ?? after[0];
  return { ...(session !== undefined && { session }), ...(turn !== undefined && { turn }) };
}

/** The event after which the copy ends. */
async function endOf(source: SessionRecord, asked: string | undefined, port: OpenPort): Promise<number> {
  if (asked === undefined) {
    const last = await port.store.last(source.id, "TurnEnded");
    if (last === undefined) throw new UsageError(`${source.id} has no finished turn to branch after.`);
    return last;
  }
  const number = turnNumber("turn", asked);
  const { endEvent } = await findTurn(port, source, number);
  if (endEvent === undefined) throw new UsageError(`Turn ${number} of ${source.id} has no end yet.`);
  return endEvent;
}
