import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { times } from "../../../test/support/thorough.js";
import { decodeText, encodeText, looksBinary } from "./text-file.js";

describe("text and back", () => {
  it("any bytes survive, unchanged text gives unchanged bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (array) => {
        const bytes = Buffer.from(array);
        const decoded = decodeText(bytes);
        expect(encodeText(decoded.text, decoded, bytes).equals(bytes)).toBe(true);
      }),
      { numRuns: times(400, 2000) },
    );
  });

  it("so do texts of all encodings and endings", () => {
    const line = fc.string({ unit: fc.constantFrom("a", "ü", "漢", "🦬", " ", "\t", "\r"), maxLength: 6 });
    const ending = fc.constantFrom("\n", "\r\n");
    const text = fc.array(fc.tuple(line, ending)).map((lines) => lines.flat().join(""));
    fc.assert(
      fc.property(text, fc.constantFrom("utf8", "utf16le", "utf16be"), fc.boolean(), (raw, encoding, bom) => {
        let bytes = Buffer.from(
          bom || encoding !== "utf8" ? `\ufeff${raw}` : raw,
          encoding === "utf8" ? "utf8" : "utf16le",
        );
        if (encoding === "utf16be") bytes = bytes.swap16();
        const decoded = decodeText(bytes);
        if (!raw.includes("\r\r\n")) expect(decoded.text).toBe(raw.replaceAll("\r\n", "\n"));
        expect(encodeText(decoded.text, decoded, bytes).equals(bytes)).toBe(true);
      }),
      { numRuns: times(200, 1000) },
    );
  });

  it("lines that stay keep their own endings", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("\n", "\r\n"), { minLength: 2, maxLength: 20 }), fc.nat(), (endings, at) => {
        const raw = endings.map((ending, i) => `line ${i}${ending}`).join("");
        const bytes = Buffer.from(raw);
        const decoded = decodeText(bytes);
        const place = at % endings.length;
        const changed = decoded.text.replace(`line ${place}\n`, `line ${place}\nnew\n`);
        const written = encodeText(changed, decoded, bytes).toString();
        for (const [i, ending] of endings.entries()) expect(written).toContain(`line ${i}${ending}`);
        expect(written).toContain(`line ${place}${endings[place]}new${endings[place]}`);
      }),
    );
  });

  it("bytes that are not UTF-8 are read as Latin-1; a replacement character that the file has is text", () => {
    const bytes = Buffer.from("caf\xe9\n", "latin1");
    expect(decodeText(bytes)).toMatchObject({ text: "café\n", encoding: "latin1" });
    expect(decodeText(Buffer.from("\ufffd café\n"))).toMatchObject({ text: "\ufffd café\n", encoding: "utf-8" });
    const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]);
    expect(decodeText(marked)).toMatchObject({ text: "ï»¿café\n", encoding: "latin1", bom: false });
    expect(decodeText(Buffer.from([0xff, 0xfe, 0x61]))).toMatchObject({ encoding: "latin1" });
  });

  it("a byte order mark that was not there does not appear", () => {
    expect(encodeText("a\n", decodeText(Buffer.from("b\n"))).toString()).toBe("a\n");
  });
});

it("NUL bytes near the start mean binary, but not in UTF-16", () => {
  expect(looksBinary(Buffer.from("a\0b"))).toBe(true);
  expect(looksBinary(Buffer.from("\ufeffab", "utf16le"))).toBe(false);
  expect(looksBinary(Buffer.from("plain"))).toBe(false);
});
