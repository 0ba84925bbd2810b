import { createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { times } from "../../test/support/thorough.js";
import { TagMaker } from "./tag-maker.js";

describe("the tag maker", () => {
  it("makes what Node's HMAC makes", () => {
    const key = fc.uint8Array({ maxLength: 64 });
    const part = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.string({ unit: "binary" }),
      fc.constantFrom("", "é𝄞", "x".repeat(16_000), "y".repeat(20_000)),
    );
    fc.assert(
      fc.property(key, fc.array(fc.array(part, { maxLength: 4 }), { maxLength: 4 }), (keyBytes, messages) => {
        const tags = new TagMaker(keyBytes);
        // One maker for all: nothing of a message may be left for the next.
        for (const parts of messages) {
          const hmac = createHmac("sha256", keyBytes);
          for (const each of parts) hmac.update(each);
          expect(tags.make(...parts).equals(hmac.digest())).toBe(true);
        }
      }),
      { seed: 1, numRuns: times(60, 300) },
    );
    expect(() => new TagMaker(new Uint8Array(65))).toThrow(RangeError);
  });
});
