import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { times } from "../../../../test/support/thorough.js";
import { textWidth } from "../../../base/text-width.js";
import { CONTINUED } from "../terminal/fit-line.js";
import { createTheme, plainTheme } from "../themes.js";
import type { LayoutView } from "./answer-stream.js";
import { AnswerStream, renderMarkdown } from "./answer-stream.js";
import { ANSWER } from "./samples.testkit.js";
import { loadContentTools, plainTools } from "./tools.js";

/** Pieces that begin, end or break every construct. */
const PIECES = [
  "word ",
  "a longer sentence with several words in it. ",
  "**",
  "*",
  "_",
  "~~",
  "`",
  "``",
  "[",
  "](",
  "](https://example.org/x)",
  ")",
  "<",
  "<br>",
  "https://example.org/a_b/c*d ",
  "\\",
  "&amp;",
  "&#27;",
  "|",
  "| a | b |\n",
  "|---|:-:|\n",
  "\n",
  "\n\n",
  "\r\n",
  "# ",
  "## head\n",
  "- ",
  "* ",
  "1. ",
  "  - ",
  "    ",
  "\t",
  "> ",
  "[ ] ",
  "[x] ",
  "---\n",
  "===\n",
  "```",
  "```ts\n",
  "~~~\n",
  "/* open\n",
  "const a = 'x';\n",
  "日本語。",
  "👩‍👩‍👧‍👦",
  "👍🏽",
  "é́",
  "\u202e",
  "\u001b[31m",
  "\u001b]52;c;aGk=\u0007",
  "\ud800",
  "x".repeat(90),
  "long ".repeat(600),
  "y".repeat(3000),
];

const markdown = fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((pieces) => pieces.join(""));
const cuts = fc.array(fc.nat(400), { maxLength: 30 });

function stream(text: string, view: LayoutView, lengths: readonly number[]): string[] {
  const answer = new AnswerStream();
  const lines: string[] = [];
  let from = 0;
  for (const length of lengths) {
    answer.push(text.slice(from, from + length));
    from += length;
    lines.push(...answer.take(view).finished);
  }
  answer.push(text.slice(from));
  return [...lines, ...answer.end(view)];
}

const runs = times(200, 5000);

describe("AnswerStream", () => {
  it("gives the lines of the whole answer, however it is cut", async () => {
    const tools = await loadContentTools();
    const theme = createTheme("dark", { colours: "16", links: true });
    fc.assert(
      fc.property(markdown, cuts, fc.integer({ min: 1, max: 120 }), fc.boolean(), (text, lengths, width, soft) => {
        const view = { width, theme, tools, soft };
        expect(stream(text, view, lengths)).toEqual(renderMarkdown(text, view));
      }),
      { numRuns: runs },
    );
  }, 120_000);

  it("never makes a line wider than asked, nor one that ends in a space, finished or not", () => {
    fc.assert(
      fc.property(markdown, cuts, fc.integer({ min: 1, max: 120 }), (text, lengths, width) => {
        const view = { width, theme: plainTheme, tools: plainTools };
        const answer = new AnswerStream();
        let from = 0;
        for (const length of [...lengths, text.length]) {
          answer.push(text.slice(from, from + length));
          from += length;
          const { finished, live } = answer.take(view);
          for (const line of [...finished, ...live]) {
            if (textWidth(line) > width) expect.fail(`too wide: ${JSON.stringify(line)}`);
            if (line.endsWith(" ")) expect.fail(`trailing space: ${JSON.stringify(line)}`);
            if (/[\x00-\x1f\x7f-\x9f]/.test(line)) expect.fail(`control character: ${JSON.stringify(line)}`);
          }
        }
      }),
      { numRuns: runs },
    );
  }, 120_000);

  it("leaves paragraphs and code to the wrap of the terminal where that is asked for, as one line each", () => {
    const words = "Some **bold words** and `code` of a [paragraph](https://example.org/a) that goes on. "
      .repeat(90)
      .trim();
    const code = "const name = 'value'; ".repeat(200).trim();
    const item = "an item of a list with many words, aligned below its mark, ".repeat(4).trim();
    const text = `${words}\n\n\`\`\`ts\n${code}\nshort\n\`\`\`\n\n- ${item}\n`;
    const whole = renderMarkdown(text, { width: 100_000, theme: plainTheme, tools: plainTools });
    for (const width of [20, 77]) {
      const view = { width, theme: plainTheme, tools: plainTools, soft: true };
      const rows = stream(text, view, Array(4000).fill(7));
      const lines = rows.join("\n").replaceAll(`\n${CONTINUED}`, "").split("\n");
      expect(lines.slice(0, 4)).toEqual(whole.slice(0, 4));
      const list = lines.slice(lines.indexOf("short") + 1).filter((line) => line !== "");
      expect(list[0]).toMatch(/^- an item/);
      for (const line of list.slice(1)) expect(line).toMatch(/^ {2}\S/);
      for (const row of rows) expect(row.replace(CONTINUED, "").length).toBeLessThanOrEqual(width);
      // Each row before another one of its line is full: the terminal would break it there.
      for (const [at, row] of rows.entries())
        if (rows[at + 1]?.startsWith(CONTINUED)) expect(row.replace(CONTINUED, "")).toHaveLength(width);
    }
  });

  it("shows a tab within a table as a space", () => {
    const answer = new AnswerStream();
    answer.push("a\tb | c\n---|---\n");
    const { live } = answer.take({ width: 40, theme: plainTheme, tools: plainTools });
    expect(live[0]).toBe("a b │ c");
  });

  it("hands a paragraph out when it is over, and code line by line", () => {
    const view = { width: 40, theme: plainTheme, tools: plainTools };
    const answer = new AnswerStream();
    answer.push("First line\nsecond");
    expect(answer.take(view)).toEqual({ finished: [], live: ["First line", "second"] });
    answer.push(" line\n\n```ts\nconst a = 1;\nconst b");
    expect(answer.take(view)).toEqual({
      finished: ["First line", "second line", "", "const a = 1;"],
      live: ["const b"],
    });
    expect(answer.take(view)).toEqual({ finished: [], live: ["const b"] });
  });

  it("keeps what waits small in a long answer", () => {
    const view = { width: 80, theme: plainTheme, tools: plainTools };
    const answer = new AnswerStream();
    let most = 0;
    for (const text of ["A sentence of words. ", "| a | b |\n|---|---|\n", "| 1 | 2 |\n", "```\ncode\n", "**x "]) {
      for (let count = 0; count < 2000; count++) {
        answer.push(text === "| a | b |\n|---|---|\n" && count > 0 ? "| 1 | 2 |\n" : text);
        if (count % 50 === 0) most = Math.max(most, answer.take(view).live.length);
      }
      answer.push("\n\n");
    }
    expect(most).toBeLessThan(80);
  });

  it("links every part of a long URL to the whole of it", () => {
    const url = `https://example.org/${"part/".repeat(20)}end`;
    const theme = createTheme("dark", { colours: "16", links: true });
    const source = `See [it](${url}) or ${url}.\n\n\`\`\`sh\ncurl '${url}'\n\`\`\``;
    const lines = renderMarkdown(source, { width: 40, theme, tools: plainTools });
    const text = lines.map((line) => stripVTControlCharacters(line)).join("");
    expect(text.split(url)).toHaveLength(4);
    for (const line of lines) {
      if (/part/.test(stripVTControlCharacters(line))) expect(line).toContain(`;${url}\u001b\\`);
    }
  });

  it("shows the answer of the samples", () => {
    const view = { width: 80, theme: plainTheme, tools: plainTools };
    expect(
      stream(
        ANSWER,
        view,
        Array.from({ length: 400 }, () => 3),
      ),
    ).toEqual(renderMarkdown(ANSWER, view));
  });
});
