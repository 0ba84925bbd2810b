import { expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { resultOf } from "./tool-result.js";

verifies(["E6", "P12"], "a result is bounded before anything else looks at it, and has no control sequences", () => {
  const sequence = "\u001b[2J\u001b]0;title\u0007\u009b31m\u202e";
  const { content } = resultOf({
    content: [
      { type: "text", text: `${sequence}begin${"A".repeat(15_000_000)}end` },
      { type: "resource_link", uri: `file:///a${sequence}`, name: sequence },
      { type: "resource", resource: { uri: sequence, text: sequence } },
    ],
  });
  const texts = content.map((block) => (block.type === "text" ? block.text : ""));
  expect(texts[0]?.length).toBeLessThan(201_000);
  expect(texts[0]).toMatch(/begin.*\(\d+ characters are left out\.\)\n.*end$/s);
  for (const text of texts) expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
  const many = Array.from({ length: 100_000 }, () => ({ type: "text" as const, text: "x" }));
  expect(resultOf({ content: many }).content).toHaveLength(201);
});
