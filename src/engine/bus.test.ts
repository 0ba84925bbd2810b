import { describe, expect, it } from "vitest";
import { verifies } from "../../test/verifies.js";
import { ManualClock } from "../base/clock.js";
import type { Envelope } from "../protocol/envelope.js";
import { Bus } from "./bus.js";

const make = (onSubscriberError?: (error: unknown) => void) =>
  new Bus({
    session: "sess_x",
    originator: "cli_x",
    clock: new ManualClock(Date.UTC(2026, 4, 23, 19, 0, 0, 123)),
    ...(onSubscriberError && { onSubscriberError }),
  });

describe("the bus", () => {
  verifies(["L11", "C1"], "gives every event the canonical envelope", () => {
    const bus = make();
    const seen: Envelope[] = [];
    bus.subscribe((event) => seen.push(event));
    bus.publish("TextDelta", { text: "hi" });
    expect(JSON.parse(JSON.stringify(seen[0]))).toEqual({
      id: 1,
      kind: "TextDelta",
      session: "sess_x",
      originator: "cli_x",
      ts: "2026-05-23T19:00:00.123Z",
      payload: { text: "hi" },
    });
  });

  verifies(["L14"], "a throwing subscriber is reported and does not stop the others", () => {
    const errors: unknown[] = [];
    const bus = make((error) => errors.push(error));
    const seen: number[] = [];
    bus.subscribe(() => {
      throw new Error("planted");
    });
    bus.subscribe((event) => seen.push(event.id));
    bus.publish("TextDelta", { text: "a" });
    bus.publish("TextDelta", { text: "b" });
    expect(seen).toEqual([1, 2]);
    expect(errors).toHaveLength(2);
  });

  verifies(["L11"], "what a subscriber publishes comes after, in order, for everyone", () => {
    const bus = make();
    const first: number[] = [];
    const second: number[] = [];
    bus.subscribe((event) => {
      first.push(event.id);
      if (event.id === 1) bus.publish("TextDelta", { text: "inner" });
    });
    bus.subscribe((event) => second.push(event.id));
    bus.publish("TextDelta", { text: "outer" });
    expect(first).toEqual([1, 2]);
    expect(second).toEqual([1, 2]);
  });
});

describe("a clock that fails", () => {
  it("takes no id: the next event follows without a gap", () => {
    let time = Number.NaN;
    const bus = new Bus({
      session: "sess_x",
      originator: "cli_x",
      clock: { now: () => 0, after: () => () => {}, wall: () => time },
    });
    const seen: number[] = [];
    bus.subscribe(({ id }) => seen.push(id));
    expect(() => bus.publish("TextDelta", { text: "a" })).toThrow();
    time = 0;
    bus.publish("TextDelta", { text: "b" });
    expect(seen).toEqual([1]);
  });
});
