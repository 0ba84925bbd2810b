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

it("shows each part with its tokens and its share, to the letter", () => {
  const facts = { ...FACTS, counted: 4_000, messages: FACTS.messages.slice(0, 2) };
  expect(windowText(facts)).toBe(
    `
Context of mock:m: 4,000 of 10,000 tokens (40 %)
[################........................]

PART                TOKENS  SHARE
prompt of Oxbow      1,754   18 %
tools (1)              624    6 %
instruction files      881    9 %
skills and folders     296    3 %
your inputs            149    1 %
answers                296    3 %
free                 6,000   60 %

Oxbow shortens the conversation from 8.0k tokens on.
Most is for instruction files: shorten the files that /context names below.`.trim(),
  );
  for (const shortensAt of [undefined, Number.POSITIVE_INFINITY]) {
    const text = windowText({ ...facts, counted: 40, shortensAt });
    expect(text).toContain("40 of 10,000 tokens (< 1 %)\n[........................................]\n");
    expect(text).not.toContain("shortens");
  }
  const over = windowText({ ...facts, counted: 20_000 });
  expect(over).toContain("(200 %)\n[########################################]\n");
  expect(over).toMatch(/^free +0 +0 %$/m);
  const image = { role: "user", content: [{ type: "image", data: "" }] } as never;
  expect(windowParts({ ...FACTS, messages: [image] }).at(-1)).toMatchObject({ name: "your inputs", tokens: 1_500 });
});
