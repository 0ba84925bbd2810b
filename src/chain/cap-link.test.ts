import { describe, expect } from "vitest";
import { call, calls, says, scriptedModel, testEngine, tool } from "../../test/support/engine.js";
import { verifies } from "../../test/verifies.js";
import { ownText, type ResultContent, text } from "../protocol/content.js";

async function contentOf(parts: readonly string[]): Promise<readonly ResultContent[]> {
  const definition = tool("show", async () => ({ status: "ok", content: parts.map(text) }));
  const engine = testEngine({ model: scriptedModel([calls(call("show", {})), says("done")]), tools: [definition] });
  await engine.turn("go");
  const result = engine.events.find((event) => event.kind === "ToolResult");
  if (result?.kind !== "ToolResult") throw new Error("no result");
  return result.payload.content;
}

const lengthOf = (content: readonly ResultContent[]) =>
  content.reduce((sum, block) => sum + (block.type === "text" ? block.text.length : 0), 0);

describe("the cap of a result", () => {
  verifies(["T9"], "leaves a short one as it is", async () => {
    expect(await contentOf(["a", "b"])).toEqual([text("a"), text("b")]);
  });

  verifies(["T9"], "cuts a long part in its middle and says how much is missing", async () => {
    const content = await contentOf([`begin${"x".repeat(300_000)}end`]);
    expect(content).toEqual([
      text(`begin${"x".repeat(7195)}`),
      ownText("[… 288,008 characters cut here: ask for a smaller part to see it …]"),
      text(`${"x".repeat(4797)}end`),
    ]);
  });

  verifies(["T9"], "counts all parts together, however many there are", async () => {
    const content = await contentOf(Array.from({ length: 500 }, (_, i) => `${i} ${"x".repeat(1996)}`));
    expect(lengthOf(content)).toBeLessThan(12_500);
    expect(content[0]).toEqual(text(`0 ${"x".repeat(1996)}`));
    const last = content.at(-1);
    expect(last?.type === "text" && last.text).toMatch(/^\[… 9\d\d,\d{3} more characters are left out: /);
  });
});
