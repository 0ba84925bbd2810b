import { describe, expect } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import { text } from "../../../protocol/content.js";
import type { Envelope } from "../../../protocol/envelope.js";
import type { ClientId, SessionId, TurnId } from "../../../protocol/ids.js";
import { type Effect, firstState } from "../state.js";
import { reducePast } from "./reduce-past.js";

const [SESSION, TURN, CLIENT] = ["sess_1" as SessionId, "turn_1" as TurnId, "cli_1" as ClientId];
const CLOCK = { now: () => 500, wall: () => Date.parse("2026-01-02T00:00:00.000Z") };

function event(kind: string, ts: string, payload: object): Envelope {
  return { id: 1, kind, session: SESSION, originator: CLIENT, ts, payload } as unknown as Envelope;
}

describe("a turn that is shown again", () => {
  verifies(["U2"], "shows how long it took, and rings no bell", () => {
    const usage = { input_tokens: 1, output_tokens: 1 };
    const events = [
      event("TurnStarted", "2026-01-01T10:00:00.000Z", { turn: TURN, input: [text("go")], queued: 0 }),
      event("TurnEnded", "2026-01-01T10:02:05.000Z", { turn: TURN, outcome: "answered", usage }),
    ];
    let state = firstState({ client: CLIENT, session: SESSION, model: "mock:m" });
    const effects: Effect[] = [];
    for (const each of events) {
      const reduced = reducePast(state, each, CLOCK);
      state = reduced.state;
      effects.push(...reduced.effects);
    }
    const end = effects.find((effect) => effect.do === "print" && effect.block.kind === "turn-end");
    expect(end).toMatchObject({ block: { elapsedMs: 125_000 } });
    expect(effects.map(({ do: what }) => what)).not.toContain("call person");
  });

  verifies(["U2"], "and still runs counts from its beginning", () => {
    const started = event("TurnStarted", "2026-01-01T23:59:50.000Z", { turn: TURN, input: [text("go")], queued: 0 });
    const { state } = reducePast(firstState({ client: CLIENT, session: SESSION, model: "mock:m" }), started, CLOCK);
    expect(state.turn?.startedAt).toBe(CLOCK.now() - 10_000);
  });
});
