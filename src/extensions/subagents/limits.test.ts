import { describe, expect, it } from "vitest";
import { Slots, TurnCount } from "./limits.js";

describe("the places for subagents", () => {
  it("go to those who wait, oldest first, and never to one who gave up", async () => {
    const slots = new Slots(1);
    const never = new AbortController().signal;
    const first = await slots.take(never);
    const given = new AbortController();
    const order: string[] = [];
    const second = slots.take(given.signal).then((release) => {
      order.push(release === undefined ? "second gave up" : "second");
    });
    const third = slots.take(never).then((release) => {
      order.push("third");
      return release;
    });
    given.abort();
    await second;
    first?.();
    first?.();
    const release = await third;
    expect(order).toEqual(["second gave up", "third"]);
    release?.();
    expect(await slots.take(never)).toBeTypeOf("function");
    expect(await slots.take(given.signal)).toBeUndefined();
  });

  it("are counted for each turn", () => {
    const count = new TurnCount(2);
    expect([count.add(), count.add(), count.add()]).toEqual([true, true, false]);
  });
});
