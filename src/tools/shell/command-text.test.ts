import { describe, expect, it } from "vitest";
import { processorMs } from "../../../test/support/processor-time.js";
import { commandText, wholeCharactersEnd } from "./command-text.js";

const clean = (text: string) => commandText(Buffer.from(text));

describe("commandText", () => {
  it.each([
    ["plain\ttext\n", "plain\ttext\n"],
    ["a\r\nb\r\r\nc", "a\nb\nc"],
    ["10%\r20%\r100%\n", "100%\n"],
    ["100%\r", "100%"],
    ["\r\r\n", "\n"],
    ["\x1b[1;31mred\x1b[0m", "red"],
    ["\x1b]0;title\x07text\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "textlink"],
    ["\x1b(Btext\x1b=\x1bM", "text"],
    ["^D\b\bready", "ready"],
    ["_\bB_\bo_\bl_\bd", "Bold"],
    ["a\0b\x07c\x9bd", "a\ufffdb\ufffdc\ufffdd"],
    ["grüße 👋 日本\r\n", "grüße 👋 日本\n"],
    ["\x1b]unfinished", "\ufffd]unfinished"],
  ])("%j becomes %j", (input, expected) => expect(clean(input)).toBe(expected));

  it("replaces bytes that are no UTF-8", () => {
    expect(commandText(Buffer.from([0x61, 0xff, 0xc3, 0x28]))).toBe("a\ufffd\ufffd(");
  });

  it("drops what is left of a character at a cut, and only there", () => {
    const bytes = Buffer.from("aé日👋b");
    for (let from = 0; from <= bytes.length; from++) {
      for (let to = from; to <= bytes.length; to++) {
        const text = commandText(bytes.subarray(from, to), { cutBefore: true, cutAfter: true });
        expect(text).not.toContain("\ufffd");
        expect("aé日👋b").toContain(text);
      }
    }
  });

  it("finds the end of the last whole character", () => {
    const bytes = Buffer.from("日");
    expect([1, 2, 3].map((length) => wholeCharactersEnd(bytes.subarray(0, length)))).toEqual([0, 0, 3]);
    expect(wholeCharactersEnd(Buffer.from([0x80, 0x80, 0x80, 0x80]))).toBe(4);
  });

  it("takes no longer for hostile text than for plain", () => {
    const size = 250_000;
    const texts = [
      "\x1b]".repeat(size / 2),
      `${"a".repeat(size / 2)}${"\b".repeat(size / 2)}`,
      "é".repeat(size),
      "x\r".repeat(size),
    ];
    const took = processorMs(() => {
      for (const text of texts) clean(text);
    });
    expect(took).toBeLessThan(2000);
  });
});
