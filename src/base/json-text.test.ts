import { expect } from "vitest";
import { verifies } from "../../test/verifies.js";
import { jsonText } from "./json-text.js";

verifies(["P13"], "JSON that is printed contains no control character, and the same value", () => {
  const value = { text: "\u001b]0;t\u0007\u009b2J\u0090\u007f\u202e\u2028é😀", list: [1, null] };
  for (const text of [jsonText(value), jsonText(value, 2)]) {
    expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202a-\u202e]/);
    expect(JSON.parse(text)).toEqual(value);
  }
  expect(jsonText({ plain: "é😀" })).toBe('{"plain":"é😀"}');
});
