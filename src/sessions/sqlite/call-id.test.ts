import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { callIdFromBytes, callIdToBytes } from "./call-id.js";

const letter = fc.constantFrom(..."0123456789ABCDEFGHJKMNPQRSTVWXYZ");
const callId = fc
  .tuple(fc.constantFrom(..."01234567"), fc.array(letter, { minLength: 25, maxLength: 25 }))
  .map(([first, rest]) => `call_${first}${rest.join("")}`);

describe("call ids as bytes", () => {
  it("are read unchanged and keep their order", () => {
    fc.assert(
      fc.property(callId, callId, (a, b) => {
        const [x, y] = [callIdToBytes(a), callIdToBytes(b)];
        expect([x.length, callIdFromBytes(x)]).toEqual([16, a]);
        expect(Math.sign(x.compare(y))).toBe(a === b ? 0 : a < b ? -1 : 1);
      }),
      { seed: 1 },
    );
    for (const wrong of ["", "call_1", "sess_01KG9YS7G070E2NWAAPF15E65J", "call_81KG9YS7G070E2NWAAPF15E65J"]) {
      expect(() => callIdToBytes(wrong)).toThrow(expect.objectContaining({ code: "invalid" }));
    }
  });
});
