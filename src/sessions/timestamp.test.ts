import { describe, expect, it } from "vitest";
import { createTimestamps, toMilliseconds, toTimestamp } from "./timestamp.js";

describe("timestamps", () => {
  it("are read unchanged, or are refused", () => {
    expect(toTimestamp(toMilliseconds("2026-01-31T12:00:00.007Z"))).toBe("2026-01-31T12:00:00.007Z");
    for (const wrong of [
      "2026-01-31T12:00:00Z",
      "2026-01-31T12:00:00.000+01:00",
      "today",
      "2026-02-30T00:00:00.000Z",
    ]) {
      expect(() => toMilliseconds(wrong)).toThrow(expect.objectContaining({ code: "invalid" }));
    }
    expect(() => toTimestamp(1e20)).toThrow(expect.objectContaining({ code: "damaged" }));
  });

  it("are the same one after another", () => {
    const timestamps = createTimestamps();
    const start = Date.UTC(2026, 0, 31, 23, 59, 59, 990);
    const times = [0, 1, 9, 10, 11, 1009, 1010, -1, 86_400_000, -start, -start - 1, -start - 1000, -start - 62e12];
    for (const time of times) expect(timestamps(start + time)).toBe(toTimestamp(start + time));
    expect(() => timestamps(1e20)).toThrow(expect.objectContaining({ code: "damaged" }));
  });
});
