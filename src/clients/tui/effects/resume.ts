/** Resumes another session. */

import type { EngineClient } from "../../../protocol/client.js";
import type { SessionInfo } from "../../../protocol/queries.js";
import { isBusy, type State } from "../state.js";
import type { DialogPlace } from "./open-named.js";

/** Shows the conversation again, then continues it. */
export async function resume(
  { client, state, print, restart, carrier }: DialogPlace,
  chosen: SessionInfo,
): Promise<void> {
  const { id, provider, model, title } = chosen;
  if (id === state().session) return;
  const reply = await client.send("CreateSession", { resume: id });
  if (!reply.ok) {
    print({ kind: "notice", level: "error", text: reply.failure.message });
    return;
  }
  restart(id, `${provider}:${model}`);
  print({ kind: "notice", level: "info", text: `Resumed: ${title ?? id}` });
  await carrier.showAgain(id);
  await carrier.refresh();
}

/** A session of this folder in which a turn runs, or the last used one; not the open one. */
export async function lastSession(client: EngineClient, { session, place }: State): Promise<SessionInfo | undefined> {
  if (place === undefined) return undefined;
  const reply = await client.query("ListSessions", { cwd: place.cwd, limit: 10 });
  if (!reply.ok) return undefined;
  const others = reply.answer.sessions.filter(({ id }) => id !== session);
  return others.find(isWorking) ?? others[0];
}

export function isWorking({ live, unfinished }: SessionInfo): boolean {
  return live && unfinished === true;
}

export async function resumeLast(place: DialogPlace): Promise<void> {
  const { client, state, hint } = place;
  if (isBusy(state())) {
    hint("Wait until the turn has ended, or interrupt it with Esc.");
    return;
  }
  const last = await lastSession(client, state());
  if (last === undefined) hint("There is no earlier conversation in this folder.");
  else place.carrier.switching(resume(place, last));
}
