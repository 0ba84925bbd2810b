import { UsageError } from "../../../base/usage-error.js";
import { asValue, type CommandArguments } from "../../../feature/command.js";
import type { SessionId } from "../../../protocol/ids.js";
import { branchIds, type SessionIds } from "../../../sessions/branch.js";
import { type SessionRecord, StoreError } from "../../../sessions/store.js";
import { named, type OpenPort, type SessionAction } from "./port.js";
import { findTurn, turnNumber } from "./turn-number.js";

/** Another process has made a branch with the same id, or is about to. */
const TAKEN: ReadonlySet<string> = new Set(["conflict", "leased"]);

export const branch: SessionAction = async (args, port, { surface }) => {
  const { store, clock } = port;
  const { session, turn } = wanted(args);
  const source = await named(session, port);
  const at = await endOf(source, turn, port);
  const from = { session: source.id, log: source.log };
  const title = args.flag("title") ?? source.title;
  const { cwd, provider, model, profile } = source;
  const row = {
    ...{ cwd, provider, model, ...(title !== undefined && { title }), ...(profile !== undefined && { profile }) },
    created_at: new Date(clock.wall()).toISOString(),
    branch_of: { session: source.id, event: at },
  };
  const id = await firstFree(from, at, (ids) => store.branch({ id: ids.session, log: ids.log, ...row }));
  const made = await store.get(id);
  const next = surface === "slash" ? `/resume ${id}` : `'oxbow resume ${id}'`;
  const text = `${id} is a copy of ${source.id} up to event ${at}. ${next} continues it.`;
  return { text, value: asValue(made ?? { id }) };
};

/** Makes the first copy whose ids no session has. */
async function firstFree(from: SessionIds, at: number, make: (ids: SessionIds) => Promise<void>): Promise<SessionId> {
  for (let copy = 0; ; copy++) {
    const ids = branchIds(from, at, copy);
    try {
      await make(ids);
      return ids.session;
    } catch (error) {
      if (!(error instanceof StoreError) || !TAKEN.has(error.code)) throw error;
    }
  }
}

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
