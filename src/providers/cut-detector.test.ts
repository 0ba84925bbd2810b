import { describe, expect, it } from "vitest";
import { CutDetector } from "./cut-detector.js";

const asked = (estimated: number, hasImages = false) => ({ estimated, hasImages });

describe("[M20] a prompt that a server has cut silently", () => {
  it("is known by a context that is full, or that the answer outgrew", () => {
    const cut = (counted: number, answered = 0) =>
      new CutDetector().wasCut({ ...asked(5000), counted, answered, contextTokens: 8192 });
    expect([cut(8192), cut(8191), cut(5000), cut(8000, 192), cut(8000, 193)]).toEqual([true, true, false, false, true]);
  });

  it("is known by far fewer tokens than text of that size takes", () => {
    const cut = (estimated: number, counted: number) =>
      new CutDetector().wasCut({ ...asked(estimated), counted, answered: 5 });
    expect(cut(25_000, 4100)).toBe(true);
    expect(cut(25_000, 14_000)).toBe(false);
    expect(cut(300, 10)).toBe(false);
    expect(cut(25_000, 0)).toBe(false);
  });

  it("is known by fewer tokens than earlier requests make expect", () => {
    const detector = new CutDetector();
    const cut = (estimated: number, counted: number, hasImages = false) =>
      detector.wasCut({ ...asked(estimated, hasImages), counted, answered: 5 });
    expect(cut(10_000, 12_000)).toBe(false);
    expect(detector.ratio).toBe(1.2);
    expect(cut(15_000, 30_000, true)).toBe(false);
    expect(detector.ratio).toBe(1.2);
    expect(cut(15_000, 17_000)).toBe(false);
    expect(cut(20_000, 12_000)).toBe(true);
  });
});
