import { describe, expect, it } from "vitest";
import { smallestChange } from "./edit.js";

describe("the smallest change", () => {
  it.each([
    ["a\nb", "b", "a"],
    ["x\nx", "x\nx", "x\nx"],
    ["a\nx\nb\nx", "b\nx", "a"],
    ["one", "one", "one"],
  ])("of %j quotes %j to add a line at the end and %j to add one at the start", (text, end, start) => {
    expect(smallestChange(text, `${text}\nnew`)).toEqual({ old: end, new: `${end}\nnew` });
    expect(smallestChange(text, `new\n${text}`)).toEqual({ old: start, new: `new\n${start}` });
  });

  it("is the part that changes, with enough around it", () => {
    expect(smallestChange("a\nfoo\nb", "a\nbar\nb")).toEqual({ old: "foo", new: "bar" });
    expect(smallestChange("foo\nfood", "bar\nfood")).toEqual({ old: "foo\nfood", new: "bar\nfood" });
    expect(smallestChange("x\nfoo\ny\nfoo\nz", "x\nbar\ny\nfoo\nz")).toEqual({ old: "x\nfoo\ny", new: "x\nbar\ny" });
  });
});
