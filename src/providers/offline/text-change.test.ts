import { describe, expect, it } from "vitest";
import { smallestChange, uniqueEnd, uniqueStart } from "./text-change.js";

describe("a piece that names one place", () => {
  it.each([
    ["a\nb", "b", "a"],
    ["x\nx", "x\nx", "x\nx"],
    ["a\nx\nb\nx", "b\nx", "a"],
    ["a\n", "a\n", "a"],
    ["one", "one", "one"],
  ])("of %j is %j at the end and %j at the start", (text, end, start) => {
    expect(uniqueEnd(text)).toBe(end);
    expect(uniqueStart(text)).toBe(start);
  });

  it("is the part that changes, with enough around it", () => {
    expect(smallestChange("a\nfoo\nb", "a\nbar\nb")).toEqual({ old: "foo", new: "bar" });
    expect(smallestChange("foo\nfood", "bar\nfood")).toEqual({ old: "foo\nfood", new: "bar\nfood" });
    expect(smallestChange("x\nfoo\ny\nfoo\nz", "x\nbar\ny\nfoo\nz")).toEqual({ old: "x\nfoo\ny", new: "x\nbar\ny" });
  });
});
