import { describe, expect } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import type { Envelope } from "../../../protocol/envelope.js";
import { emptyConversation, reduce } from "./conversation.js";
import { marksOf, Past } from "./past.js";
import { eventsOf, SESSION } from "./sample-events.testkit.js";

/** Turns with a call and some text each. */
function turns(count: number): readonly Envelope[] {
  return eventsOf(
    Array.from({ length: count }, (_, index) => {
      const turn = `turn_${index}`;
      const call = `call_${index}`;
      const at = index * 10_000;
      return [
        [at, "TurnStarted", { turn, input: [{ type: "text", text: `prompt ${index}` }] }],
        [at + 5, "TextDelta", { text: "one " }],
        [at + 9, "ToolCallStarted", { call, tool: "edit", tool_kind: "edit", args: {} }],
        [at + 20, "ToolResult", { call, tool: "edit", status: index % 2 === 0 ? "ok" : "error", content: [] }],
        [at + 30, "TextDelta", { text: "two" }],
        [at + 40, "TurnEnded", { turn, outcome: "answered", text: "two", iterations: 1, usage: USAGE }],
      ] as const;
    }).flat(),
  );
}

const USAGE = { input: 1, output: 1, cache_read: 0, cache_write: 0, reasoning: 0 };

describe("the past of a session", () => {
  verifies(["U4"], "is what its events up to then say, wherever one comes from", () => {
    const events = turns(100);
    const past = new Past(SESSION, events);
    for (const count of [600, 3, 599, 4, 5, 250, 249, 0, 1, 600, 401, 400, 399]) {
      const plain = events.slice(0, count).reduce(reduce, emptyConversation(SESSION));
      expect(past.after(count)).toEqual(plain);
    }
  });

  verifies(["U4"], "costs a step at most a few hundred events, however long the session is", () => {
    const events = turns(2000);
    const past = new Past(SESSION, events);
    past.after(events.length);
    let folded = 0;
    const counted = new Proxy(events, {
      get: (target, key) => {
        if (typeof key === "string" && /^\d+$/.test(key)) folded++;
        return Reflect.get(target, key);
      },
    });
    Object.assign(past, { events: counted });
    for (const count of [6000, 6001, 6002, 5999]) {
      folded = 0;
      past.after(count);
      expect(folded).toBeLessThanOrEqual(200);
    }
  });

  verifies(["U4"], "steps by event, call and turn, and ends at its ends", () => {
    const past = new Past(SESSION, turns(2));
    expect(past.step(0, "event", 1)).toBe(1);
    expect(past.step(1, "call", 1)).toBe(3);
    expect(past.step(3, "call", 1)).toBe(4);
    expect(past.step(1, "turn", 1)).toBe(6);
    expect(past.step(9, "turn", -1)).toBe(7);
    expect(past.step(12, "turn", 1)).toBe(12);
    expect(past.step(1, "turn", -1)).toBe(0);
    expect(past.countAt(7)).toBe(7);
    expect(past.waitAfter(1)).toBe(5);
    expect(past.waitAfter(6)).toBe(2000);
  });

  verifies(["U4"], "has a mark for each turn, edit and failure", () => {
    expect(marksOf(turns(2)).map(({ count, kind }) => `${count} ${kind}`)).toEqual([
      ...["1 turn", "3 edit", "7 turn", "9 edit", "10 error"],
    ]);
  });
});
