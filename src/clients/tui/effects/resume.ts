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

/** The last used session of this folder, except the open one. */
export async function lastSession(client: EngineClient, { session, place }: State): Promise<SessionInfo | undefined> {
  if (place === undefined) return undefined;
  const reply = await client.query("ListSessions", { cwd: place.cwd, limit: 2 });
  return reply.ok ? reply.answer.sessions.find(({ id }) => id !== session) : undefined;
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
