/** Events that happened before the client opened the session, which it shows again. */
import type { Clock } from "../../../base/clock.js";
import type { Envelope } from "../../../protocol/envelope.js";
import type { Reduced, State } from "../state.js";
import { reduceEvent } from "./reduce-event.js";

/** It happened at its own time, so that turns and calls show how long they took. It rings no bell. */
export function reducePast(state: State, event: Envelope, clock: Pick<Clock, "now" | "wall">): Reduced {
  const wall = clock.wall();
  const age = Math.max(0, wall - (Date.parse(event.ts) || wall));
  const reduced = reduceEvent(state, event, clock.now() - age);
  return { state: reduced.state, effects: reduced.effects.filter(({ do: what }) => what !== "call person") };
}
