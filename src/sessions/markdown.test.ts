import { describe, expect, it } from "vitest";
import { closeOpenBlocks, codeBlock, codeSpan, escapeTurnLines, quote } from "./markdown.js";

describe("[S8] pieces of Markdown", () => {
  it.each([
    ["ls", "`ls`"],
    ["a `b` c", "``a `b` c``"],
    ["`x`", "`` `x` ``"],
    ["``", "``` `` ```"],
    ["", ""],
  ])("puts %j into a code span", (text, span) => {
    expect(codeSpan(text)).toBe(span);
  });

  it("quotes every line and leaves no space at an empty one", () => {
    expect(quote("a\n\n```\nb")).toBe("> a\n>\n> ```\n> b");
  });

  it("indents code, but not its empty lines", () => {
    expect(codeBlock("a\n\n  b")).toBe("    a\n\n      b");
  });

  it("takes the sense of a heading from lines that look like a turn's", () => {
    expect(escapeTurnLines("### Turn 3\n#### Turn 4\n### Turn x\n ### Turn 5")).toBe(
      "\\### Turn 3\n#### Turn 4\n### Turn x\n ### Turn 5",
    );
  });

  it.each([
    ["```ts\ncode", "```ts\ncode\n```"],
    ["````\n```\ncode\n```", "````\n```\ncode\n```\n````"],
    ["~~~\n```\n", "~~~\n```\n~~~"],
    ["- item\n  ```\n  code", "- item\n  ```\n  code\n  ```"],
    ["<!-- note", "<!-- note\n-->"],
    ["<SCRIPT>\nx", "<SCRIPT>\nx\n</script>"],
    ["<pre class=x>", "<pre class=x>\n</pre>"],
    ["<![CDATA[ x", "<![CDATA[ x\n]]>"],
    ["a\n\n```\none\n```\n\n```\ntwo", "a\n\n```\none\n```\n\n```\ntwo\n```"],
  ])("closes what %j left open", (open, closed) => {
    expect(closeOpenBlocks(open)).toBe(closed);
  });

  it.each([
    "plain",
    "```\nclosed\n```",
    "```\nclosed by more\n`````",
    "``` not a fence ``` in one line",
    "<!-- closed -->",
    "<pre>x</pre>",
    "<!DOCTYPE html>",
    "<prefix>",
    "```\n<!-- in a fence\n```",
    "    ```\nindented four is code",
    "<!--\n```\n-->",
  ])("leaves %j alone", (markdown) => {
    expect(closeOpenBlocks(markdown)).toBe(markdown);
  });
});
