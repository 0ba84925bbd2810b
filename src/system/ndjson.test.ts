import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NdjsonDecoder } from "./ndjson.js";

function decode(pieces: readonly Uint8Array[]): readonly string[] {
  const decoder = new NdjsonDecoder();
  return [...pieces.flatMap((piece) => decoder.push(piece)), ...decoder.end()];
}

describe("NdjsonDecoder", () => {
  it("gives each line, skips blank ones and takes the last without its newline", () => {
    expect(decode([Buffer.from('\uFEFF{"a":1}\r\n\n  \n{"b":2}')])).toEqual(['{"a":1}', '{"b":2}']);
  });

  it("gives a line as soon as it has ended", () => {
    const decoder = new NdjsonDecoder();
    expect(decoder.push(Buffer.from('{"a"'))).toEqual([]);
    expect(decoder.push(Buffer.from(":1}\n{"))).toEqual(['{"a":1}']);
  });

  it("gives the same lines however the bytes are cut", () => {
    const value = fc.record({ text: fc.string({ unit: "grapheme" }), n: fc.integer() });
    fc.assert(
      fc.property(fc.array(value), fc.array(fc.nat(400)), (values, cuts) => {
        const bytes = Buffer.from(values.map((item) => `${JSON.stringify(item)}\n`).join(""));
        const at = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length];
        const pieces = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        expect(decode(pieces).map((line) => JSON.parse(line))).toEqual(values);
      }),
    );
  });
});
