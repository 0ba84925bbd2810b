import { describe, expect, it } from "vitest";
import { readableJson } from "./readable-json.js";

describe("readableJson", () => {
  it.each([
    ['{"a": 1, "b": [1, 2, "x", "cut', { a: 1, b: [1, 2, "x"] }],
    ['{"a": {"b": "c"}, "d"', { a: { b: "c" } }],
    ['{"a": "quo\\"te", "b": tr', { a: 'quo"te' }],
    ['{"a": 1}', { a: 1 }],
    ["{", {}],
    ["", undefined],
  ])("%s", (text, value) => {
    expect(readableJson(text)).toEqual(value);
  });
});
