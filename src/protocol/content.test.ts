import { describe, expect, it } from "vitest";
import { ownText, plainText, resultText, text } from "./content.js";

describe("the text of a result", () => {
  it.each([
    [["one", "two"], "one\ntwo"],
    [["one\n", "two"], "one\ntwo"],
    [["one", "\ntwo"], "one\ntwo"],
    [["one", "", "two"], "one\ntwo"],
    [["one"], "one"],
    [[], ""],
  ])("has each part of %j on a line of its own", (parts, expected) => {
    expect(resultText(parts.map(text))).toBe(expected);
  });

  it("leaves images out", () => {
    const image = { type: "image", media_type: "image/png", data: "AAAA" } as const;
    expect(resultText([text("a"), image, ownText("b")])).toBe("a\nb");
  });
});

describe("the text of an input or an answer", () => {
  it("has its parts as they stand, because a client or a model may cut within a word", () => {
    expect(plainText([text("one t"), text("wo")])).toBe("one two");
  });
});
