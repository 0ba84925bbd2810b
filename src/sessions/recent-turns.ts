/** Tokens and time of the last turns of a stored session, for the estimate of the next (feature M15). */
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
  let elapsed: number | undefined;
  for await (const event of store.events(id, { after: Math.max(0, last_event - EVENTS) })) {
    if (event.kind === "TurnStarted") elapsed = 0;
    if (elapsed === undefined) continue;
    if (event.kind === "CostIncremented") elapsed += event.payload.elapsed_ms;
    if (event.kind !== "TurnEnded") continue;
    if (event.payload.outcome === "answered") turns.push(turnStats(event.payload.usage, elapsed));
    elapsed = undefined;
  }
  return turns;
}
