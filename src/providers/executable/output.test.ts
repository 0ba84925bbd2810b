import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { times } from "../../../test/support/thorough.js";
import { createOutputDecoder } from "./output.js";

/** Tells what the pieces mean: texts are joined, since where they are cut does not matter. */
function read(pieces: readonly Uint8Array[]): { readonly text: string; readonly lines: readonly unknown[] } {
  const decoder = createOutputDecoder();
  const frames = [...pieces.flatMap((piece) => [...decoder.push(piece)]), ...decoder.end()];
  const lines = frames.map(({ data }) => JSON.parse(data) as { type?: string; text?: string });
  return { text: lines.map((line) => line.text ?? "").join(""), lines };
}

const bytes = (text: string) => [Buffer.from(text)];

describe("what an executable provider writes", () => {
  it("is text unless it begins with a brace, without the blanks around it at the end", () => {
    expect(read(bytes("  Hello,\n\n world.\n\n")).text).toBe("  Hello,\n\n world.");
    expect(read(bytes("[1, 2]\n")).text).toBe("[1, 2]");
    expect(read(bytes("\n \n")).lines).toEqual([]);
  });

  it("is a line of JSON each, or one object over several lines", () => {
    expect(read(bytes('\n{"a":1}\n\n{"b":2}')).lines).toEqual([{ a: 1 }, { b: 2 }]);
    expect(read(bytes('{\n  "a": 1\n}\n')).lines).toEqual([{ a: 1 }]);
    expect(read(bytes('{"a":1}')).lines).toEqual([{ a: 1 }]);
  });

  it("is the same however its bytes are cut", () => {
    const outputs = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.array(fc.constantFrom("Hi", " ", "\n", "ü", "👋")).map((words) => words.join("")),
      fc.array(fc.record({ text: fc.string() })).map((lines) => lines.map((line) => JSON.stringify(line)).join("\n")),
      fc.record({ text: fc.string() }).map((answer) => JSON.stringify(answer, null, 2)),
    );
    fc.assert(
      fc.property(outputs, fc.integer({ min: 1, max: 5 }), (output, size) => {
        fc.pre(!/^\s*\{/.test(output) || /^\s*\{\s*"text"/.test(output));
        const whole = Buffer.from(output);
        const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, i) =>
          whole.subarray(i * size, (i + 1) * size),
        );
        expect(read(pieces).text).toBe(read([whole]).text);
      }),
      { numRuns: times(60, 300) },
    );
  });
});
