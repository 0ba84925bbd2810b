import { expect, it } from "vitest";
import { Spacing } from "./spacing.js";

it("keeps calls together, and what different sides say apart", () => {
  const spacing = new Spacing();
  const kinds = [
    "notice",
    "prompt",
    "thinking",
    "tool",
    "tool",
    "notice",
    "answer",
    "answer",
    "tool",
    "answer",
    "turn-end",
    "prompt",
  ];
  const gaps = kinds.map((kind) => spacing.before(kind as "tool").length);
  expect(gaps).toEqual([0, 1, 1, 0, 0, 0, 1, 0, 1, 1, 1, 1]);
  expect(spacing.ahead("answer")).toEqual([""]);
});
