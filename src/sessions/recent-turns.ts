/** Tokens and time of the last turns of a stored session, for the estimate of the next. */
import { type TurnStats, turnStats } from "../base/turn-stats.js";
import type { SessionRecord, SessionStore } from "./store.js";

/** Enough for a few turns; a session may have a hundred thousand. */
const EVENTS = 500;

/** Oldest first. */
export async function recentTurns(
  store: Pick<SessionStore, "events">,
  { id, last_event }: Pick<SessionRecord, "id" | "last_event">,
): Promise<readonly TurnStats[]> {
  const turns: TurnStats[] = [];
  let started: number | undefined;
  for await (const event of store.events(id, { after: Math.max(0, last_event - EVENTS) })) {
    if (event.kind === "TurnStarted") started = Date.parse(event.ts);
    if (event.kind !== "TurnEnded" || started === undefined) continue;
    const elapsed = Math.max(0, Date.parse(event.ts) - started) || 0;
    if (event.payload.outcome === "answered") turns.push(turnStats(event.payload.usage, elapsed));
    started = undefined;
  }
  return turns;
}
