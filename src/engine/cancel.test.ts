import { describe, expect, it } from "vitest";
import { AbortNode } from "../base/abort-tree.js";
import { ManualClock } from "../base/clock.js";
import { failure } from "../protocol/errors.js";
import { ABANDONED, TurnFailure, unlessAbandoned } from "./cancel.js";

const ticks = async () => {
  for (let tick = 0; tick < 5; tick++) await Promise.resolve();
};

/** Something that is waited for, and what came of the waiting. */
function waiting(ms: number) {
  const clock = new ManualClock();
  const abort = new AbortNode();
  let settle: { resolve(value: string): void; reject(error: unknown): void } | undefined;
  const work = new Promise<string>((resolve, reject) => {
    settle = { resolve, reject };
  });
  const came: unknown[] = [];
  unlessAbandoned(work, abort.signal, { clock, ms }).then(
    (value) => came.push(value),
    (error) => came.push(error),
  );
  return { clock, abort, came, end: settle as NonNullable<typeof settle> };
}

describe("[L9] waiting for something that a cancel may end", () => {
  it("gives its value or its error, and leaves no timer", async () => {
    const one = waiting(100);
    one.end.resolve("done");
    await ticks();
    one.abort.abort(undefined);
    expect([one.came, one.clock.pending]).toEqual([["done"], 0]);
    const other = waiting(100);
    other.end.reject("broken");
    await ticks();
    expect([other.came, other.clock.pending]).toEqual([["broken"], 0]);
  });

  it("ends at once without a time of grace", async () => {
    const { abort, came, clock } = waiting(0);
    abort.abort(undefined);
    await ticks();
    expect([came, clock.pending]).toEqual([[ABANDONED], 0]);
  });

  it("ends after the time of grace, and not before", async () => {
    const { abort, came, clock } = waiting(100);
    abort.abort(undefined);
    clock.advance(99);
    await ticks();
    expect(came).toEqual([]);
    clock.advance(1);
    await ticks();
    expect(came).toEqual([ABANDONED]);
  });

  it("gives what comes within the time of grace, and stops the timer", async () => {
    for (const how of ["resolve", "reject"] as const) {
      const { abort, came, clock, end } = waiting(100);
      abort.abort(undefined);
      clock.advance(50);
      end[how]("late");
      await ticks();
      expect([came, clock.pending]).toEqual([["late"], 0]);
    }
  });

  it("ends for a signal that fired before", async () => {
    const abort = new AbortNode();
    abort.abort(undefined);
    const grace = { clock: new ManualClock(), ms: 0 };
    expect(await unlessAbandoned(new Promise(() => {}), abort.signal, grace)).toBe(ABANDONED);
  });
});

it("a failure that ends the turn has the words of its reason", () => {
  const cause = failure("Internal", { detail: "x" });
  expect(new TurnFailure(cause)).toMatchObject({ name: "TurnFailure", message: cause.message, failure: cause });
});
