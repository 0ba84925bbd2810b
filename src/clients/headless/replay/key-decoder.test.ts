import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KeyDecoder } from "./key-decoder.js";

const ESC = "\u001b";

function decode(...chunks: string[]): string[] {
  const decoder = new KeyDecoder();
  return [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.flush()];
}

describe("KeyDecoder", () => {
  it("gives printable characters as themselves", () => {
    expect(decode("j 7é世👍")).toEqual(["j", " ", "7", "é", "世", "👍"]);
  });

  it("names the keys without a character", () => {
    expect(decode("\r\n\x7f\b\x03\x04\x0c\x15")).toEqual([
      "enter",
      "enter",
      "backspace",
      "backspace",
      "ctrl-c",
      "ctrl-d",
      "ctrl-l",
      "ctrl-u",
    ]);
  });

  it("knows arrows, Home, End and paging in every usual spelling", () => {
    expect(decode(`${ESC}[A${ESC}[B${ESC}[C${ESC}[D`)).toEqual(["up", "down", "right", "left"]);
    expect(decode(`${ESC}OA${ESC}OD${ESC}OH${ESC}OF`)).toEqual(["up", "left", "home", "end"]);
    expect(decode(`${ESC}[H${ESC}[F${ESC}[1~${ESC}[4~${ESC}[7~${ESC}[8~`)).toEqual([
      "home",
      "end",
      "home",
      "end",
      "home",
      "end",
    ]);
    expect(decode(`${ESC}[5~${ESC}[6~${ESC}[1;5C${ESC}[5;2~`)).toEqual(["pageup", "pagedown", "right", "pageup"]);
  });

  it("drops what it does not know, whole", () => {
    expect(decode(`${ESC}[200~j${ESC}[<0;12;7M${ESC}OPk${ESC}j\x00\x1a\t`)).toEqual(["j", "k"]);
  });

  it("takes Esc for the key when nothing follows, and before another Esc", () => {
    expect(decode(ESC)).toEqual(["escape"]);
    expect(decode(`${ESC}${ESC}[A`)).toEqual(["escape", "up"]);
    const decoder = new KeyDecoder();
    expect(decoder.push(ESC)).toEqual([]);
    expect(decoder.isWaiting).toBe(true);
    expect(decoder.push("[A")).toEqual(["up"]);
    expect(decoder.isWaiting).toBe(false);
  });

  it("does not wait forever for the end of a sequence", () => {
    expect(decode(`${ESC}[${"1".repeat(40)}`)[0]).toBe("escape");
  });

  it("gives the same keys however the input is cut", () => {
    const key = fc.constantFrom("j", "世", " ", "\r", "\x03", `${ESC}[A`, `${ESC}OF`, `${ESC}[6~`, `${ESC}[1;5D`);
    fc.assert(
      fc.property(fc.array(key), fc.array(fc.nat({ max: 60 })), (keys, cuts) => {
        const typed = keys.join("");
        const places = [...new Set([0, ...cuts.filter((cut) => cut < typed.length), typed.length])].sort(
          (a, b) => a - b,
        );
        const chunks = places.slice(1).map((place, index) => typed.slice(places[index], place));
        expect(decode(...chunks)).toEqual(decode(typed));
      }),
    );
  });
});
