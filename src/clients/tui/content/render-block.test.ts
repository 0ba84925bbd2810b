import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import { textWidth } from "../../../base/text-width.js";
import type { CallId } from "../../../protocol/ids.js";
import { createTheme, plainTheme } from "../themes.js";
import { renderBlock } from "./render-block.js";
import { NOW, SAMPLES } from "./samples.testkit.js";
import { loadContentTools } from "./tools.js";

const WIDTHS = [40, 80, 120, 200];

function screen(width: number, expanded: boolean): string {
  const options = { width, theme: plainTheme, expanded, now: NOW };
  return Object.entries(SAMPLES)
    .map(([name, block]) => `=== ${name}\n${renderBlock(block, options).join("\n")}\n`)
    .join("\n");
}

describe("renderBlock", () => {
  for (const width of WIDTHS) {
    verifies(["U2"], `shows every kind of block in ${width} columns`, async () => {
      await expect(screen(width, false)).toMatchFileSnapshot(`goldens/blocks-${width}.txt`);
    });
  }

  it("shows everything when expanded", async () => {
    await expect(screen(80, true)).toMatchFileSnapshot("goldens/expanded-80.txt");
  });

  verifies(["U2"], "links the file that a tool names, and never one that an answer names", () => {
    const theme = createTheme("dark", { colours: "16", links: true });
    const options = { width: 80, theme, expanded: false, now: NOW, fileUrl: (path: string) => `file://here/${path}` };
    const call = { kind: "tool", call: "c" as CallId, tool: "edit", progress: "", startedAt: NOW } as const;
    const [line = ""] = renderBlock({ ...call, args: { path: "src/app.ts", old: "a", new: "b" } }, options);
    expect(line).toMatch(/\u001b\]8;id=\w+;file:\/\/here\/src\/app\.ts\u001b\\.*src\/app\.ts/);
    const plain = renderBlock({ ...call, args: { path: "src/app.ts" } }, { ...options, theme: plainTheme });
    expect(plain.join("")).not.toContain("\u001b");
    const answer = renderBlock({ kind: "answer", markdown: "[run](file:///tmp/x.desktop)" }, options);
    expect(answer.join("")).not.toContain("]8;");
  });

  it("has no line that is too wide or ends in a space, in any theme", async () => {
    const tools = await loadContentTools();
    const themes = [
      plainTheme,
      createTheme("dark", { colours: "truecolor", links: true }),
      createTheme("light", { colours: "16" }),
      createTheme("high-contrast", { colours: "16" }),
    ];
    for (const [name, block] of Object.entries(SAMPLES)) {
      for (const theme of themes) {
        for (const width of [1, 9, 40, 41, 300]) {
          for (const expanded of [true, false]) {
            for (const line of renderBlock(block, { width, theme, expanded, now: NOW, tools })) {
              const bare = stripVTControlCharacters(line);
              if (textWidth(bare) > width || / $/.test(bare))
                expect.fail(`${name} at ${width}: ${JSON.stringify(line)}`);
            }
          }
        }
      }
    }
  });
});

it("keeps the last column of a command's output aligned where it wraps", () => {
  const text =
    "  /route [list]  name models for one turn, or several for failover\nplain words that wrap at the edge of the screen";
  const block = { kind: "command", line: "", text } as const;
  expect(renderBlock(block, { width: 40, theme: plainTheme, expanded: false, now: 0 })).toEqual([
    "  /route [list]  name models for one",
    "                 turn, or several for",
    "                 failover",
    "plain words that wrap at the edge of the",
    "screen",
  ]);
});
