import { describe, expect, it, vi } from "vitest";
import { parseRequestText } from "./request-text.js";

function literals(raw: string): string[] {
  const request = parseRequestText(raw);
  return request.text
    .split(" ")
    .map((word) => request.term(word))
    .filter((term) => term.quoted)
    .map((term) => term.value);
}

describe("quoted text", () => {
  it.each([
    ["find 'a b' now", ["a b"]],
    ["find \"a 'b' c\" now", ["a 'b' c"]],
    ["find `x` and “y” and ‘z’", ["x", "y", "z"]],
    ["replace '' with \"\" here", ["", ""]],
    ["say 'it's here' now", ["it's here"]],
    ["with:\n  two\nlines", ["  two\nlines\n"]],
    ["with\n```ts\nconst a = `b`;\n```\nplease", ["const a = `b`;\n"]],
    ["find \uE000 there", ["\uE000"]],
  ])("%j", (raw, expected) => {
    expect(literals(raw)).toEqual(expected);
  });

  it.each(["what's in the project's folder", "don't and can't", "5' 6\" tall", "an open ' quote"])(
    "sees none in %j",
    (raw) => {
      expect(literals(raw)).toEqual([]);
    },
  );

  it("looks at few quotes that do not end", () => {
    const looked = vi.spyOn(String.prototype, "slice");
    try {
      parseRequestText('api_key="'.repeat(20_000));
      expect(looked.mock.calls.length).toBeLessThan(100_000);
    } finally {
      looked.mockRestore();
    }
    expect(parseRequestText(`${"don't ".repeat(500)}open 'a b'`).text).toMatch(/open .$/);
  });

  it("looks for the end of a fence once where there is none", () => {
    const looked = vi.spyOn(String.prototype, "indexOf");
    try {
      parseRequestText("`".repeat(20_000));
      expect(looked.mock.calls.length).toBeLessThan(1000);
    } finally {
      looked.mockRestore();
    }
  });

  it("keeps the text around a literal inside a word", () => {
    const request = parseRequestText("open x='a b'");
    expect(request.term(request.text.split(" ")[1] ?? "")).toEqual({ value: "x=a b", quoted: false });
  });
});

describe("politeness", () => {
  it.each([
    ["Could you please show me README.md, please?", "show me README.md"],
    ["hey, can you tell me how many files there are?", "how many files there are"],
    ["I'd like to know which files changed", "which files changed"],
    ["list the files in .", "list the files in ."],
    ["list the files in ..", "list the files in .."],
    ["list   the\n files.", "list the files"],
    ["please", "please"],
  ])("%j is %j", (raw, text) => {
    expect(parseRequestText(raw).text).toBe(text);
  });
});
