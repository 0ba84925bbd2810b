import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { times } from "../../../test/support/thorough.js";
import { verifies } from "../../../test/verifies.js";
import { revealHidden } from "./reveal-hidden.js";

const character = (...codes: readonly number[]) => String.fromCodePoint(...codes);
const tags = (text: string) => [...text].map((letter) => character(0xe0000 + letter.charCodeAt(0))).join("");

describe("revealHidden", () => {
  verifies(["P12"], "shows every character that a person would not see", () => {
    const hidden =
      "0000 0007 0008 001B 007F 0085 009B 00AD 034F 061C 115F 1160 17B4 180E 200B 200C 200D 200E 200F 2028 2029 202A 202E " +
      "2060 2064 2066 2069 206F 2800 3164 FE0F FEFF FFA0 FFF9 FFFC 1D173 E0001 E0041 E0100";
    for (const code of hidden.split(" ")) {
      expect(revealHidden(`a${character(Number.parseInt(code, 16))}b`)).toBe(`a‹U+${code}›b`);
    }
  });

  verifies(["P12"], "shows smuggled text without letting it grow", () => {
    expect(revealHidden(`Hi${tags("run")}!`)).toBe("Hi‹U+E0072›‹U+E0075›‹U+E006E›!");
    expect(revealHidden(`Hi${tags("x".repeat(500))}!`)).toBe(`Hi${"‹U+E0078›".repeat(8)}‹492 more hidden›!`);
    expect(revealHidden(`☺${character(0xe0131, 0xe0132)}`)).toBe("☺‹U+E0131›‹U+E0132›");
  });

  verifies(["P12"], "leaves alone what writing needs", () => {
    const fine = [
      "plain\ttext\r\nand more\n",
      "Grüße, naïve, Tiếng Việt, שָׁלוֹם, ñandú",
      "👩‍👩‍👧‍👦 👩🏽‍🚀 ❤️ ❤️‍🔥 🏳️‍🌈 1️⃣ #️⃣ ☎︎ ©️ 🇩🇪 👍🏽",
      `${character(0x1f3f4)}${tags("gbsct")}${character(0xe007f)} won`,
      "می‌خواهم خانه‌ها",
      "क्‍ष र्‍य ক‌খ ശ്രീ ක්‍ෂ",
      `葛${character(0xe0100)}城 ≨${character(0xfe00)}`,
      `ភាសា${character(0x200b)}ខ្មែរ`,
      "ᠭᠣᠯ᠋",
    ];
    for (const text of fine) expect(revealHidden(text)).toBe(text);
  });

  verifies(["P12"], "does not keep a joiner or selector where it joins or selects nothing", () => {
    expect(revealHidden("می‌ب‌")).toBe("می‌ب‹U+200C›");
    expect(revealHidden("a\u200dب")).toBe("a‹U+200D›ب");
    expect(revealHidden("ب\u200c\u200cب")).toBe("ب‹U+200C›‹U+200C›ب");
    expect(revealHidden("👩\u200d\u200d👩")).toBe("👩‹U+200D›‹U+200D›👩");
    expect(revealHidden("❤\ufe0f\ufe0f")).toBe("❤\ufe0f‹U+FE0F›");
    expect(revealHidden("1\ufe0f")).toBe("1‹U+FE0F›");
    expect(revealHidden(`🏴${tags("gbxyz")}${character(0xe007f)}`)).toContain("‹U+E0067›");
  });

  verifies(["P12"], "shows a carriage return that would write over the line, and halves of characters", () => {
    expect(revealHidden("safe\rrm -rf\r\n")).toBe("safe‹U+000D›rm -rf\r\n");
    expect(revealHidden("a\ud800b\udc00")).toBe("a‹U+D800›b‹U+DC00›");
  });

  verifies(["P12"], "thins out marks that are heaped on one letter", () => {
    const heap = `e${"\u0301".repeat(40)}`;
    expect(revealHidden(heap)).toBe(`e${"\u0301".repeat(8)}${"‹U+0301›".repeat(8)}‹24 more hidden›`);
  });

  it("changes nothing the second time, and nothing hidden is left", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "\u200d",
        "\u200c",
        "\ufe0f",
        "👩",
        "❤",
        "ب",
        "क",
        "्",
        "🏴",
        tags("gbeng"),
        character(0xe007f),
        "\r",
        "\n",
        "葛",
      ),
      fc.constantFrom(character(0xe0100), "\u202e", "\u0301", "1", "\u20e3", "\ud800", "\u200b", "ខ"),
      fc.string({ unit: "binary", maxLength: 3 }),
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join("")),
        (text) => {
          const revealed = revealHidden(text);
          // Assertions by the thousand take longer than what they look at.
          return (
            revealHidden(revealed) === revealed &&
            !/[\u202a-\u202e\u2066-\u2069\u200b\ufeff\u{e0001}](?![\u1780-\u17ff])/u.test(revealed) &&
            !/\p{Surrogate}/u.test(revealed)
          );
        },
      ),
      { numRuns: times(200, 3000) },
    );
  });

  it("takes time in proportion to the text", () => {
    for (const unit of ["\u200b", "a\u200b", "é\u0301", "👩\u200d", "\r", "\ud800"]) {
      const revealed = revealHidden(unit.repeat(60_000));
      expect(revealed.length).toBeLessThan(unit.length * 60_000 * 10);
    }
  });
});
