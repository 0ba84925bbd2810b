import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { times } from "../../test/support/thorough.js";
import { Utf8Stream } from "./utf8-stream.js";

function decode(pieces: readonly Uint8Array[]): string {
  const stream = new Utf8Stream();
  return pieces.map((piece) => stream.push(piece)).join("") + stream.end();
}

describe("Utf8Stream", () => {
  it("decodes any bytes in any pieces as the platform decodes them whole", () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc.string({ unit: "binary", maxLength: 30 }).map((text) => new TextEncoder().encode(text)),
    );
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 8 }), (pieces) => {
        expect(decode(pieces)).toBe(new TextDecoder().decode(Buffer.concat(pieces)));
      }),
      { numRuns: times(100, 500) },
    );
  });

  it("drops one byte order mark at the start, also when it is split, and no other", () => {
    const mark = [0xef, 0xbb, 0xbf];
    expect(decode([Uint8Array.of(0xef), Uint8Array.of(0xbb, 0xbf), Uint8Array.of(0x61, ...mark)])).toBe("a\uFEFF");
    expect(decode([Uint8Array.of(...mark, ...mark)])).toBe("\uFEFF");
  });
});
