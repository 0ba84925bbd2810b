import { describe, expect, it } from "vitest";
import { EarlyListeners } from "./early-listeners.js";

describe("early listeners", () => {
  it("give the first listener what came before it, in order, and the next one only what follows", () => {
    const listeners = new EarlyListeners<number>({ most: 2 });
    const [first, second]: number[][] = [[], []];
    for (const value of [1, 2, 3]) listeners.deliver(value);
    const remove = listeners.add((value) => first?.push(value));
    listeners.deliver(4);
    listeners.add((value) => second?.push(value));
    listeners.deliver(5);
    remove();
    listeners.deliver(6);
    expect([first, second]).toEqual([
      [1, 2, 4, 5],
      [5, 6],
    ]);
  });

  it("keep nothing after they were cleared", () => {
    const listeners = new EarlyListeners<number>();
    const seen: number[] = [];
    listeners.deliver(1);
    listeners.clear();
    listeners.deliver(2);
    listeners.add((value) => seen.push(value));
    expect(seen).toEqual([]);
  });
});
