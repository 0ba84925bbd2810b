import { expect, it } from "vitest";
import { MemoryRelease } from "./release-memory.js";

it("collects what earlier work left, and only then", () => {
  const memory = new MemoryRelease(0);
  // The work is held until its size is known: V8 may collect at any time, and other tests fill the same heap.
  const held = [work()];
  const during = process.memoryUsage().heapUsed;
  held.length = 0;
  memory.release();
  const after = process.memoryUsage().heapUsed;
  expect(after).toBeLessThan(during - 10 * 1024 * 1024);
  memory.release();
  expect(Math.abs(process.memoryUsage().heapUsed - after)).toBeLessThan(4 * 1024 * 1024);
});

function work(): readonly unknown[] {
  return Array.from({ length: 400_000 }, (_, index) => ({ index, text: `entry ${index}` }));
}
