import { describe, expect, it } from "vitest";
import { readableShellWord, shellWord, wordsOf } from "./shell-word.js";

describe("a word for the shell", () => {
  it.each([
    ["src/a.ts", "src/a.ts"],
    ["a b", "'a b'"],
    ["it's", "'it'\\''s'"],
    ["$(rm)", "'$(rm)'"],
    ["", "''"],
  ])("%j is readable as %s", (word, quoted) => {
    expect(readableShellWord(word)).toBe(quoted);
  });

  it("is always quoted where a person does not read it", () => {
    expect(shellWord("plain")).toBe("'plain'");
  });
});

describe("the words of a line", () => {
  it.each([
    ["", []],
    ["  a\tb\u00a0c\n", ["a", "b", "c"]],
    [`"a  b" 'c "d' e`, ["a  b", 'c "d', "e"]],
    [`"a" ""`, ["a", ""]],
    [`"a b"c "d`, ['"a', 'b"c', '"d']],
    [`it's 'x`, ["it's", "'x"]],
  ] as const)("%j", (line, values) => {
    const words = wordsOf(line);
    expect(words.map(({ value }) => value)).toEqual(values);
    expect(words.map(({ start, end }) => line.slice(start, end).replace(/^(["'])(.*)\1$/, "$2"))).toEqual(values);
  });
});
