import type { CallId } from "../../../protocol/ids.js";
import { branchEvents, derivedId, nextBranchIds } from "../../../sessions/branch.js";
import { EXIT } from "../../exit-codes.js";
import { UsageError } from "../../flags.js";
import { copySession } from "./copy-session.js";
import type { SessionAction } from "./session-action.js";
import { findTurn, turnNumber } from "./turn-number.js";

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
    const ids = await nextBranchIds(from, at, async (session) => (await store.get(session)) !== undefined);
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
    await copySession(sessions, { ...row, ...(title !== undefined && { title }) }, events);
    try {
      const callOf = (call: CallId) => derivedId("call", call, ids.log);
      await store.copyEdits?.(source.id, ids.session, { upTo: at, callOf });
    } catch (error) {
      await store.remove(ids.session);
      throw error;
    }
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
