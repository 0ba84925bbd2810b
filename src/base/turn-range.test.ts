import { describe, expect, it } from "vitest";
import { parseTurnRange } from "./turn-range.js";

describe("parseTurnRange", () => {
  it.each([
    ["3", { from: 3, to: 3 }],
    ["3-5", { from: 3, to: 5 }],
    [" 3 - 5 ", { from: 3, to: 5 }],
    ["3-", { from: 3, to: Number.POSITIVE_INFINITY }],
    ["-5", { from: 1, to: 5 }],
  ])("reads %j", (text, range) => {
    expect(parseTurnRange(text)).toEqual(range);
  });

  it.each(["", "-", "0", "5-3", "x", "1,2", "1-2-3", "-0"])("refuses %j", (text) => {
    expect(parseTurnRange(text)).toBeUndefined();
  });
});
