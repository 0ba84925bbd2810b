import { expect, it } from "vitest";
import { ManualClock } from "./clock.js";
import { progressLine, SpeedMeter } from "./progress-bar.js";

it("shows a bar with bytes, speed and the time that is left", () => {
  expect(progressLine({ completed: 0, total: 0, bytesPerSecond: undefined })).toBe(
    "░░░░░░░░░░░░░░░░░░░░░░░░   0%  0 B of 0 B",
  );
  expect(progressLine({ completed: 1_000_000_000, total: 4_000_000_000, bytesPerSecond: 25_000_000 })).toBe(
    "██████░░░░░░░░░░░░░░░░░░  25%  1.0 GB of 4.0 GB  25.0 MB/s  2m left",
  );
  expect(progressLine({ completed: 5, total: 5, bytesPerSecond: 5 })).toBe(
    "████████████████████████ 100%  5 B of 5 B  5 B/s",
  );
});

it("measures the speed of the last moments", () => {
  const clock = new ManualClock();
  const meter = new SpeedMeter(clock);
  expect(meter.add(0)).toBeUndefined();
  clock.advance(1000);
  expect(meter.add(500)).toBe(500);
  for (const value of [1000, 1500, 2000, 2500, 3000]) {
    clock.advance(1000);
    meter.add(value);
  }
  clock.advance(4000);
  expect(meter.add(3000)).toBeLessThan(200);
});
