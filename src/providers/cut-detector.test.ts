import { describe, expect, it } from "vitest";
import { CutDetector } from "./cut-detector.js";

const size = (bytes: number, images = 0) => ({ bytes, images });

describe("[M20] a prompt that a server has cut silently", () => {
  it("is known by a context that is full, or that the answer outgrew", () => {
    const cut = (counted: number, answered = 0) =>
      new CutDetector().wasCut({ size: size(20_000), counted, answered, contextTokens: 8192 });
    expect([cut(8192), cut(8191), cut(5000), cut(8000, 192), cut(8000, 193)]).toEqual([true, true, false, false, true]);
  });

  it("is known by fewer tokens than text of that size can have", () => {
    const cut = (bytes: number, counted: number) =>
      new CutDetector().wasCut({ size: size(bytes), counted, answered: 5 });
    expect(cut(100_000, 4100)).toBe(true);
    expect(cut(100_000, 20_000)).toBe(false);
    expect(cut(1000, 10)).toBe(false);
    expect(cut(100_000, 0)).toBe(false);
  });

  it("is known by fewer tokens than earlier requests make expect", () => {
    const detector = new CutDetector();
    const cut = (bytes: number, counted: number, images = 0) =>
      detector.wasCut({ size: size(bytes, images), counted, answered: 5 });
    expect(cut(40_000, 10_000)).toBe(false);
    expect(detector.tokensPerByte).toBe(0.25);
    expect(cut(60_000, 30_000, 3)).toBe(false);
    expect(detector.tokensPerByte).toBe(0.25);
    expect(cut(60_000, 14_000)).toBe(false);
    expect(cut(80_000, 12_000)).toBe(true);
  });
});
