import { expect, it } from "vitest";
import { groupDigits } from "./group-digits.js";

it.each([
  [0, "0"],
  [999, "999"],
  [1000, "1,000"],
  [-1000, "-1,000"],
  [12_345, "12,345"],
  [123_456_789, "123,456,789"],
])("%d is %s", (count, text) => {
  expect(groupDigits(count)).toBe(text);
});
