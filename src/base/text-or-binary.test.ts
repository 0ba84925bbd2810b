import { describe, expect, it } from "vitest";
import { isBinary } from "./text-or-binary.js";

describe("isBinary", () => {
  it("knows programs, packed files and pictures", () => {
    expect(isBinary(Buffer.from("\x7fELF\x02\0\0"))).toBe(true);
    expect(isBinary(Buffer.from("text with one \0 in it"))).toBe(true);
    expect(isBinary(Buffer.from(Array.from({ length: 400 }, (_, at) => 128 + ((at * 37) % 127))))).toBe(true);
    expect(isBinary(Buffer.from("wide text", "utf16le"))).toBe(true);
  });

  it("takes text in any language, in old encodings, with colours, and nothing", () => {
    expect(isBinary(Buffer.from("日本語のテキスト, ελληνικά, ✓\n"))).toBe(false);
    expect(isBinary(Buffer.from("Größe übermäßig, naïve façade\n", "latin1"))).toBe(false);
    expect(isBinary(Buffer.from("\x1b[31mred\x1b[0m\r\n\tdone\n".repeat(50)))).toBe(false);
    expect(isBinary(new Uint8Array())).toBe(false);
  });
});
