import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { processorMs } from "../../test/support/processor-time.js";
import { times } from "../../test/support/thorough.js";
import { SafeTextStream, safeLine, safeText } from "./terminal-text.js";

const ESC = "\u001b";
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

describe("[P13] safeText", () => {
  it("leaves ordinary text alone", () => {
    for (const text of ["plain\n\ttext", "naïve café 世界", "\\x1b[31m is how it is written", "a – b “c” …", "€ ∑ ☃"]) {
      expect(safeText(text)).toBe(text);
    }
  });

  it("drops colours and cursor moves, and keeps all words", () => {
    expect(safeText(`${ESC}[1;31mred${ESC}[0m${ESC}(B and ${ESC}[2K${ESC}[1A${ESC}[?25lmore`)).toBe("red and more");
    expect(safeText(`visible ${ESC}[8mhidden${ESC}[0m`)).toBe("visible hidden");
    expect(safeText("\u009b31mred")).toBe("red");
  });

  it("shows what an escape string would have done unseen", () => {
    expect(safeText(`${ESC}]52;c;aGk=\u0007`)).toBe("␛]52;c;aGk=␇");
    expect(safeText(`${ESC}]0;never ends`)).toBe("␛]0;never ends");
    expect(safeText(`${ESC}Pq${ESC}\\`)).toBe("␛Pq␛\\");
    expect(safeText("\u009d0;x\u009c")).toBe("<U+009D>0;x<U+009C>");
  });

  it("does not let a long parameter list hide anything", () => {
    expect(safeText(`${ESC}[${"9".repeat(40)}m`)).toBe(`␛[${"9".repeat(40)}m`);
  });

  it("does not let text be written over", () => {
    expect(safeText("rm -rf / #\rls -la")).toBe("rm -rf / #\nls -la");
    expect(safeText("one\r\ntwo")).toBe("one\ntwo");
    expect(safeText("abc\b\b\bx")).toBe("abc␈␈␈x");
  });

  it("makes direction, zero-width and tag characters visible", () => {
    expect(safeText("a\u202eb\u2066c\u200bd\ufeffe\u00adf")).toBe("a<U+202E>b<U+2066>c<U+200B>d<U+FEFF>e<U+00AD>f");
    const tags = Array.from("do it", (char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0))).join("");
    expect(safeText(`hello${tags}`)).toBe("hello<tags:do it>");
    expect(safeText("a\u3164b\u2028c")).toBe("a<U+3164>b<U+2028>c");
    expect(safeText("a\u{e0101}b\ufe01")).toBe("a<U+E0101>b<U+FE01>");
  });

  it("keeps joiners and selectors where writing needs them", () => {
    const flag = `\u{1f3f4}${Array.from("gbeng", (c) => String.fromCodePoint(0xe0000 + c.charCodeAt(0))).join("")}\u{e007f}`;
    for (const text of ["👩‍👩‍👧‍👦", "❤️ 1️⃣ 🏳️‍🌈 👍🏽", "می‌خواهم", "क्‍ष", "葛\u{e0100}", flag]) {
      expect(safeText(text)).toBe(text);
    }
    expect(safeText("pass\u200dword")).toBe("pass<U+200D>word");
    expect(safeText("🙂\ufe0f\ufe0e")).toBe("🙂\ufe0f<U+FE0E>");
  });

  it("replaces half characters", () => {
    expect(safeText("a\ud83db")).toBe("a\ufffdb");
  });

  it("leaves no control character, whatever comes", () => {
    const char = fc.oneof(
      fc.integer({ min: 0, max: 0xff }).map((code) => String.fromCharCode(code)),
      fc.constantFrom(ESC, "[", "]", ";", "m", "\u009b", "\u0007", "\r", "\n", "\u200d", "🙂", "\ud83d", "\ude42"),
      fc.string({ unit: "binary", maxLength: 3 }),
    );
    fc.assert(
      fc.property(fc.array(char, { maxLength: 60 }), (parts) => {
        const safe = safeText(parts.join(""));
        expect(CONTROL.test(safe)).toBe(false);
        expect(safeText(safe)).toBe(safe);
      }),
      { numRuns: times(1000, 5000), seed: 11 },
    );
  });

  it("is fast on long text", () => {
    const plain = "all work and no play\n".repeat(100_000);
    const took = processorMs(() => {
      expect(safeText(plain)).toBe(plain);
      safeText(`${ESC}[31m`.repeat(100_000));
      safeText(`${ESC}[`.repeat(100_000));
      safeText("\u200d\u{e0041}".repeat(50_000));
    });
    expect(took).toBeLessThan(3000);
  });
});

describe("[P13] safeLine", () => {
  it("stays on one line", () => {
    expect(safeLine("a\r\nb\tc")).toBe("a␊b␉c");
  });
});

describe("[P13] SafeTextStream", () => {
  it("joins an escape split over chunks", () => {
    const stream = new SafeTextStream();
    const out = [
      stream.push(`text${ESC}`),
      stream.push("[3"),
      stream.push("1mred\r"),
      stream.push("\nend"),
      stream.end(),
    ];
    expect(out).toEqual(["text", "", "red", "\nend", ""]);
  });

  it("shows what never came to an end", () => {
    const stream = new SafeTextStream();
    expect(stream.push(`text${ESC}[`) + stream.end()).toBe("text␛[");
  });

  it("gives the same as the whole, however it is cut", () => {
    const piece = fc.constantFrom(
      `${ESC}[31m`,
      `${ESC}]0;t\u0007`,
      ESC,
      "[",
      "\r\n",
      "\r",
      "👩‍👩‍👧",
      "\u200d",
      "क्‍ष",
      "\ufe0f",
      "\u{e0041}\u{e0042}",
      "\u{1f3f4}",
      "\u202e",
      "\u009b",
      "1;",
      "word ",
      "\ud83d",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), fc.array(fc.nat(80), { maxLength: 12 }), (pieces, cuts) => {
        const text = pieces.join("");
        const places = [0, ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b), text.length];
        const stream = new SafeTextStream();
        let out = "";
        for (let i = 1; i < places.length; i++) out += stream.push(text.slice(places[i - 1], places[i]));
        expect(out + stream.end()).toBe(safeText(text));
      }),
      { numRuns: times(1000, 5000), seed: 3 },
    );
  });
});
