import { describe, expect, it, vi } from "vitest";
import { processorMs } from "../../test/support/processor-time.js";
import { verifies } from "../../test/verifies.js";
import { estimateTokens } from "./estimate-tokens.js";

describe("an estimate of tokens", () => {
  verifies(["M1"], "is exact for plain prose and close for code", () => {
    expect(estimateTokens("")).toBe(0);
    expect(estimateTokens("A small house stands by the river.")).toBe(8);
    expect(estimateTokens("one two three four five ".repeat(200).trimEnd())).toBe(1000);
    const code = "const total = items.map((item) => item.price * item.count);\n";
    expect(estimateTokens(code)).toBeGreaterThan(14);
    expect(estimateTokens(code)).toBeLessThan(24);
  });

  it.each([
    ["digits come in threes", "123456789", 3],
    ["indentation is one piece", `${" ".repeat(24)}x`, 2],
    ["a rule is one piece", "----------------", 1],
    ["capitals begin a new piece", "readFileSync", 3],
    ["a dot before a word belongs to it", "a.b", 2],
  ])("%s", (_why, text, tokens) => {
    expect(estimateTokens(text)).toBe(tokens);
  });

  it("weighs other scripts by the character", () => {
    const perCharacter = (text: string) => estimateTokens(text) / [...text].length;
    expect(perCharacter("Река течёт медленно через поля")).toBeLessThan(0.6);
    expect(perCharacter("川はゆっくり流れています")).toBeGreaterThan(0.6);
    expect(perCharacter("🌊🌲🏞")).toBeGreaterThan(1.5);
  });

  it("looks at no more of a long text than of a text of 64 K characters, and scales", () => {
    const lines = [
      "const total = items.map((item) => item.price);\n",
      "Die Ströme fließen träge.\n",
      "川はゆっくり。\n",
      "    \n",
    ];
    const mixed = (count: number) => Array.from({ length: count }, (_, at) => lines[(at * 7) % 4]).join("");
    const counted = (text: string) => {
      const spy = vi.spyOn(String.prototype, "match");
      try {
        const tokens = estimateTokens(text);
        const looked = spy.mock.contexts.reduce<number>((sum, each) => sum + String(each).length, 0);
        return { tokens, looked };
      } finally {
        spy.mockRestore();
      }
    };
    const short = counted(mixed(2000));
    expect(short.looked).toBe(mixed(2000).length);
    for (const times of [2, 50]) {
      const long = counted(mixed(2000).repeat(times));
      expect(long.looked).toBeLessThanOrEqual(65_536);
      expect(long.tokens / (short.tokens * times)).toBeGreaterThan(0.97);
      expect(long.tokens / (short.tokens * times)).toBeLessThan(1.03);
    }
  });

  it("takes time in proportion to the text, whatever is in it", () => {
    const samples = [
      "a".repeat(200_000),
      " ".repeat(200_000),
      "(".repeat(200_000),
      "'s".repeat(100_000),
      "é".repeat(200_000),
    ];
    const took = processorMs(() => {
      for (const text of samples) expect(estimateTokens(text)).toBeGreaterThan(100);
    });
    expect(took).toBeLessThan(5000);
  });
});
