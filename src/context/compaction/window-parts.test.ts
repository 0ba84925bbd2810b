import { expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import type { CallId } from "../../protocol/ids.js";
import { windowParts, windowText } from "./window-parts.js";

const words = (count: number) => "word ".repeat(count);

const FACTS = {
  model: "mock:m",
  frame: {
    system: words(1000),
    tools: [{ name: "read", description: words(200), inputSchema: {} }],
  },
  instructions: words(300),
  sections: words(100),
  messages: [
    { role: "user", content: [{ type: "text", text: words(50) }] },
    { role: "assistant", content: [{ type: "text", text: words(100) }] },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          call: "call_1" as CallId,
          tool: "read",
          is_error: false,
          content: [{ type: "text", text: words(2000) }],
        },
      ],
    },
  ],
  counted: undefined,
  window: 10_000,
  shortensAt: 8000,
} as const;

verifies(["X7"], "/context says what fills the window, what is free, and what to do", () => {
  const text = windowText(FACTS);
  expect(text).toMatch(/^Context of mock:m: about [\d,]+ of 10,000 tokens \(\d+ %\)\n\[#{5,}\.{5,}\]\n/);
  for (const name of ["prompt of Oxbow", "tools (1)", "instruction files", "your inputs", "results of tools", "free"])
    expect(text).toContain(name);
  expect(text).toContain("Most is for results of tools: /compact");
  expect(text).toContain("shortens the conversation from 8.0k tokens on");
  expect(text).toMatch(/^[\n\x20-\x7e]*$/);
});

it("scales its estimates to the count of the provider, and needs no request or window", () => {
  const counted = windowParts({ ...FACTS, counted: 7000 });
  const sum = counted.reduce((all, { tokens }) => all + tokens, 0);
  expect(Math.abs(sum - 7000)).toBeLessThan(10);
  const early = { ...FACTS, frame: undefined, messages: [], window: undefined, instructions: "", sections: "" };
  expect(windowText(early)).toContain("The size of its window is not known.");
});
