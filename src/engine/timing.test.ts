import { expect } from "vitest";
import { verifies } from "../../test/verifies.js";
import { ManualClock } from "../base/clock.js";
import { Timing } from "./timing.js";

verifies(["L12"], "the parts of a turn are added up, in milliseconds with three digits", async () => {
  const clock = new ManualClock();
  const timing = new Timing(clock);
  timing.add("a", 1.23456);
  timing.add("a", 1);
  await timing.measure("b", async () => {
    await Promise.resolve();
    clock.advance(7);
  });
  await expect(
    timing.measure("b", async () => {
      clock.advance(5);
      throw new Error("x");
    }),
  ).rejects.toThrow("x");
  expect(timing.report()).toMatchObject({ a: 2.235, b: 12 });
});
