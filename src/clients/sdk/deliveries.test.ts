import { describe, expect, it } from "vitest";
import type { Envelope } from "../../protocol/envelope.js";
import type { EventBody } from "../../protocol/events.js";
import { Deliveries } from "./deliveries.js";

const delta: EventBody = { kind: "TextDelta", payload: { text: "a" } };

function gap(from: number, to: number, reason: string): EventBody {
  return { kind: "StreamGap", payload: { from, to, reason } };
}

/** Tells what a listener gets of these events, by id and kind. */
function delivered(...events: readonly (readonly [number, EventBody])[]): string[] {
  const deliveries = new Deliveries();
  const seen: string[] = [];
  deliveries.subscribe(({ id, kind }) => seen.push(`${id} ${kind}`));
  for (const [id, body] of events) {
    deliveries.deliver({ id, session: "sess_1", originator: "cli_1", ts: "", ...body } as Envelope);
  }
  return seen;
}

describe("deliveries", () => {
  it("leave out what came before, and skip a gap", () => {
    expect(
      delivered([1, delta], [2, delta], [1, delta], [2, delta], [2, gap(3, 5, "ttl")], [5, delta], [6, delta]),
    ).toEqual(["1 TextDelta", "2 TextDelta", "2 StreamGap", "6 TextDelta"]);
  });

  it("go back after events that a crash has lost: others have their ids now", () => {
    expect(delivered([1, delta], [2, delta], [3, delta], [1, gap(2, 3, "lost")], [2, delta], [3, delta])).toEqual([
      "1 TextDelta",
      "2 TextDelta",
      "3 TextDelta",
      "1 StreamGap",
      "2 TextDelta",
      "3 TextDelta",
    ]);
  });
});
