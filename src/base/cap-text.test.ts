import { expect, it } from "vitest";
import { shorten } from "./cap-text.js";

it.each([
  ["short", 5, "short"],
  ["longer", 5, "long…"],
  ["abc😀def", 5, "abc…"],
])("%j in %d characters is %j", (text, most, expected) => {
  expect(shorten(text, most)).toBe(expected);
});
