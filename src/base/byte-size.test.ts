import { expect, it } from "vitest";
import { formatBytes } from "./byte-size.js";

it.each([
  [0, "0 B"],
  [999, "999 B"],
  [640_000, "640 KB"],
  [999_900, "1.0 MB"],
  [4_113_289_152, "4.1 GB"],
  [123_456_000_000, "123 GB"],
  [5e15, "5000 TB"],
  [-1, "0 B"],
])("says %d bytes as %s", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});
