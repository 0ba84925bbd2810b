import { marked } from "marked";
import { describe, expect, it } from "vitest";
import { createTheme, plainTheme } from "../themes.js";
import { renderMarkdown } from "./answer-stream.js";
import { loadContentTools, plainTools } from "./tools.js";

function plain(text: string, width = 80): string {
  return renderMarkdown(text, { width, theme: plainTheme, tools: plainTools }).join("\n");
}

/** Roles as tags, so that a test shows them. */
const tagged = Object.assign(Object.create(null), plainTheme, {
  ...Object.fromEntries(
    ["strong", "emphasis", "strike", "code", "link", "heading", "quote"].map((role) => [
      role,
      (text: string) => `<${role}>${text}</${role}>`,
    ]),
  ),
});

function styled(text: string): string {
  return renderMarkdown(text, { width: 200, theme: tagged, tools: plainTools }).join("\n");
}

describe("inline Markdown", () => {
  it.each([
    [
      "**bold** and *it* and ***both***",
      "<strong>bold</strong> and <emphasis>it</emphasis> and <emphasis><strong>both</strong></emphasis>",
    ],
    ["a **b *c* d** e", "a <strong>b </strong><strong><emphasis>c</emphasis></strong><strong> d</strong> e"],
    ["snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"],
    ["**not closed", "**not closed"],
    ["~~gone~~ but ~one~", "<strike>gone</strike> but ~one~"],
    ["`a*b` and ``a`b``", "<code>a*b</code> and <code>a`b</code>"],
    ["\\*text\\* and \\x1b", "*text* and \\x1b"],
    ["<b>x</b> & &amp; &lt;", "<b>x</b> & & <"],
    ["&#27;[31m &#x202e;", "␛[31m <U+202E>"],
    ["[x][ref] and [1]: y", "[x][ref] and [1]: y"],
    ["![alt](a.png)", "<link>[image] alt</link> (a.png)"],
    ['[a](b) [c](<d e> "t")', "<link>a</link> (b) <link>c</link> (d e)"],
    ["(see https://e.org/a_(b)_c).", "(see <link>https://e.org/a_(b)_c</link>)."],
    ["**日本**語", "<strong>日本</strong>語"],
  ])("%s", (source, expected) => {
    expect(styled(source)).toBe(expected);
  });

  it("agrees with another parser about emphasis", () => {
    const html = (text: string) =>
      (marked.parseInline(text, { gfm: true }) as string)
        .replaceAll(/<(\/?)em>/g, "<$1emphasis>")
        .replaceAll(/<(\/?)del>/g, "<$1strike>");
    for (const text of [
      "*a **b***",
      "**a *b***",
      "_a_b_",
      "*a*b*c*",
      "***a** b*",
      "***a* b**",
      "a*b*c",
      "a _b c_ d",
      "** a**",
      "*(a)*b",
      "__a__ _b_",
      "**a**b**c**",
    ]) {
      const own = styled(text).replaceAll(/<\/(\w+)><\1>/g, "");
      const flat = (tags: string) => tags.replaceAll(/<\/?\w+>/g, (tag) => (tag[1] === "/" ? ")" : "("));
      expect([text, flat(own).replaceAll("()", "")]).toEqual([text, flat(html(text))]);
    }
  });
});

describe("blocks of Markdown", () => {
  it("counts ordered lists on and keeps their nesting", () => {
    expect(plain("1. a\n1. b\n  - c\n     more\n7. d\n\n5) x")).toBe("1. a\n2. b\n   - c\n     more\n7. d\n\n5) x");
  });

  it("shows tasks", () => {
    expect(plain("- [ ] a\n- [x] b\n- [link](x)")).toBe("☐ a\n☑ b\n- link (x)");
  });

  it("shows code as it is, without fences or margin", () => {
    expect(plain("Run:\n```sh\n  a  b\n\n\n\tc\n```\nDone")).toBe("Run:\n\n  a  b\n\n\n    c\n\nDone");
    expect(plain("~~~\n```\n~~~")).toBe("```");
    expect(plain("````\n```\n````")).toBe("```");
  });

  it("aligns tables by display width and wraps their cells", () => {
    expect(plain("|a|b|\n|:-:|-:|\n|日本|1|\n|x|200|")).toBe(" a   │   b\n─────┼────\n日本 │   1\n x   │ 200");
  });

  it("makes records of a table that is too wide", () => {
    const row = (cell: string) => `|${Array.from({ length: 12 }, (_, index) => `${cell}${index}`).join("|")}|`;
    const lines = plain(`${row("h")}\n${row("-").replaceAll(/\d+/g, "")}\n${row("value ")}`, 40).split("\n");
    expect(lines.slice(0, 2)).toEqual(["h0: value 0", "h1: value 1"]);
  });

  it("keeps line breaks and single blank lines", () => {
    expect(plain("a\nb  \nc\\\nd\n\n\n\ne")).toBe("a\nb\nc\nd\n\ne");
  });

  it("makes a heading of one underlined line, and a rule after more", () => {
    expect(plain("Title\n---\ntext")).toBe("## Title\ntext");
    expect(plain("a\nb\n\n---\nc", 5)).toBe("a\nb\n\n─────\n\nc");
  });

  it("nests quotes and lists", () => {
    expect(plain("> a\n> - b\n>   c\n>\n> > d\n\ne")).toBe("│ a\n│ - b\n│   c\n│\n│ │ d\n\ne");
  });

  it("does not break words of wide scripts before punctuation", () => {
    expect(
      plain("日本語、日本語。", 6)
        .split("\n")
        .every((line) => !/^[、。]/.test(line)),
    ).toBe(true);
  });
});

describe("highlighting", () => {
  it("colours a comment over several lines, and stops after it", async () => {
    const tools = await loadContentTools();
    const theme = createTheme("dark", { colours: "16" });
    const lines = renderMarkdown("```ts\n/* a\nb */\nconst c = 'd';\n```", { width: 80, theme, tools });
    expect(lines).toEqual([
      theme.comment("/* a"),
      theme.comment("b */"),
      `${theme.keyword("const")} c = ${theme.string("'d'")};`,
    ]);
  });

  it("still knows after a hundred lines that a text is open", async () => {
    const tools = await loadContentTools();
    const theme = createTheme("dark", { colours: "16" });
    const middle = "middle of the text\n".repeat(300);
    const code = `\`\`\`python\ndef f(a):\n    """text\n${middle}end"""\n    return None\n\`\`\``;
    const lines = renderMarkdown(code, { width: 80, theme, tools });
    expect(lines.slice(-3)).toEqual([
      theme.string("middle of the text"),
      theme.string('end"""'),
      `    ${theme.keyword("return").replace("\u001b[39m", "")} ${theme.keyword("None")}`,
    ]);
  });

  it("leaves code of an unknown language as it is", async () => {
    const tools = await loadContentTools();
    const theme = createTheme("dark", { colours: "16" });
    expect(renderMarkdown("```brainf\n++\n```", { width: 80, theme, tools })).toEqual(["++"]);
  });
});
