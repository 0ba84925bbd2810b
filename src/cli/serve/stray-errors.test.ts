import { EventEmitter } from "node:events";
import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { ManualClock } from "../../base/clock.js";
import { surviveStrayErrors } from "./stray-errors.js";

describe("a service", () => {
  verifies(["L14"], "survives errors that reach the process, unless they come again and again", () => {
    const process = new EventEmitter();
    const clock = new ManualClock();
    const [lines, ends]: [string[], unknown[]] = [[], []];
    process.on("uncaughtException", (error) => ends.push(error));
    const restore = surviveStrayErrors(process, { clock, report: (line) => lines.push(line) });
    for (let i = 0; i < 60; i++) {
      process.emit("uncaughtException", new Error(`number ${i}`));
      clock.advance(10_000);
    }
    expect([lines.length, ends.length]).toEqual([60, 0]);
    for (let i = 0; i < 21; i++) process.emit("uncaughtException", "again");
    expect(lines.at(-1)).toBe("a bug in Oxbow: again");
    expect(ends.length).toBeGreaterThan(0);
    restore();
    const before = ends.length;
    process.emit("uncaughtException", "after");
    expect([ends.length, process.listenerCount("uncaughtException")]).toEqual([before + 1, 1]);
  });
});
