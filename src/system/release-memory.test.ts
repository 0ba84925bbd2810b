import { expect, it } from "vitest";
import { MemoryRelease } from "./release-memory.js";

it("collects what earlier work left, and only then", () => {
  const memory = new MemoryRelease(process.memoryUsage().heapUsed);
  work();
  const during = process.memoryUsage().heapUsed;
  memory.release();
  const after = process.memoryUsage().heapUsed;
  expect(after).toBeLessThan(during - 10 * 1024 * 1024);
  memory.release();
  expect(Math.abs(process.memoryUsage().heapUsed - after)).toBeLessThan(4 * 1024 * 1024);
});

function work(): void {
  const entries = Array.from({ length: 400_000 }, (_, index) => ({ index, text: `entry ${index}` }));
  expect(entries.length).toBe(400_000);
}
