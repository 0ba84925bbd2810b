import { describe, expect, it } from "vitest";
import { readableShellWord, shellWord } from "./shell-word.js";

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
