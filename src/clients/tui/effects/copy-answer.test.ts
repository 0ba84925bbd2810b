import { expect } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import { textToCopy } from "./copy-answer.js";

verifies(["U2"], "an answer is copied as the model wrote it, or only its last code block", () => {
  const fence = "```";
  const markdown = `Use **this**:\n\n${fence}sh\nls\n${fence}\n\nor\n\n~~~\na long line\n  indented\n~~~\nend\n`;
  const blocks = [
    { kind: "answer", markdown: "Old." },
    { kind: "answer", markdown },
    { kind: "notice", level: "info", text: "x" },
  ] as const;
  expect(textToCopy("", blocks)).toBe(markdown.trim());
  expect(textToCopy("code", blocks)).toBe("a long line\n  indented\n");
  expect(textToCopy("code", blocks.slice(0, 1))).toBeUndefined();
  expect(textToCopy("", [])).toBeUndefined();
});
