import { UsageError } from "../../../base/usage-error.js";
import type { CallId, SessionId } from "../../../protocol/ids.js";
import { branchEvents, derivedId, nextBranchIds } from "../../../sessions/branch.js";
import { type SessionStore, StoreError } from "../../../sessions/store.js";
import { EXIT } from "../../exit-codes.js";
import { copySession } from "./copy-session.js";
import type { SessionAction } from "./session-action.js";
import { findTurn, turnNumber } from "./turn-number.js";

/** It is there, or another process is making it. */
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

export const action: SessionAction = {
  flags: [
    { name: "turn", short: "t", value: "N", help: "the last turn to take along (default: the last finished one)" },
    { name: "title", value: "TEXT", help: "its title (default: that of the original)" },
  ],
  async run(flags, sessions) {
    const { store } = sessions;
    const source = await sessions.named(flags);
    const asked = flags.text("turn");
    const at = asked === undefined ? await store.last(source.id, "TurnEnded") : await endOf(turnNumber("turn", asked));
    if (at === undefined) throw new UsageError(`${source.id} has no finished turn to branch after.`);
    const from = { session: source.id, log: source.log };
    const ids = await nextBranchIds(from, at, (session) => isTaken(store, session));
    const title = flags.text("title") ?? source.title;
    const { cwd, provider, model } = source;
    const created_at = new Date(sessions.clock.wall()).toISOString();
    const row = {
      id: ids.session,
      log: ids.log,
      cwd,
      provider,
      model,
      created_at,
      branch_of: { session: source.id, event: at },
    };
    const events = branchEvents(store.events(source.id), { from: source.id, ...ids, at });
    const callOf = (call: CallId) => derivedId("call", call, ids.log);
    await copySession(sessions, {
      session: { ...row, ...(title !== undefined && { title }) },
      events,
      finish: async () => store.copyEdits?.(source.id, ids.session, { upTo: at, callOf }),
    });
    sessions.print(
      flags,
      await store.get(ids.session),
      () => `${ids.session} begins as a copy of ${source.id} up to event ${at}.`,
    );
    return EXIT.answered;

    async function endOf(number: number): Promise<number> {
      const { endEvent } = await findTurn(sessions, source, number);
      if (endEvent === undefined) throw new UsageError(`Turn ${number} of ${source.id} has no end yet.`);
      return endEvent;
    }
  },
};
