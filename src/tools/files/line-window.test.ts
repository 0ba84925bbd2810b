import fc from "fast-check";
import { expect, it } from "vitest";
import { times } from "../../../test/support/thorough.js";
import { LineWindow } from "./line-window.js";

function chunks(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const out: Buffer[] = [];
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    out.push(bytes.subarray(at, at + size));
    at += size;
  }
  return out;
}

it("shows the same lines however the bytes are cut", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "é", "漢", "🦬", "\n", "\r\n", "\r"), maxLength: 60 });
  fc.assert(
    fc.property(
      text,
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 1, max: 8 }),
      (raw, sizes, offset, limit) => {
        const lines = raw.split("\n");
        if (lines.at(-1) === "") lines.pop();
        const expected = lines.map((line) => line.replace(/\r$/, "")).slice(offset - 1, offset - 1 + limit);

        const window = new LineWindow({ offset, limit });
        for (const piece of chunks(Buffer.from(raw), sizes)) window.addBytes(piece);
        if (!window.isFull) window.end();
        expect(window.lines).toEqual(expected);
        if (!window.isFull) expect(window.linesSeen).toBe(lines.length);

        const whole = new LineWindow({ offset, limit });
        whole.addText(raw.replaceAll("\r\n", "\n"));
        expect(whole.lines.length).toBe(expected.length);
        expect(whole.linesSeen).toBe(lines.length);
      },
    ),
    { numRuns: times(200, 1000) },
  );
});

it("keeps only the beginning of an endless line", () => {
  const window = new LineWindow({ offset: 1, limit: 10 });
  for (let i = 0; i < 100; i++) window.addBytes(Buffer.alloc(100_000, "x"));
  window.addBytes(Buffer.from("\nnext\n"));
  expect(window.lines[0]).toBe(`${"x".repeat(2000)}…`);
  expect(window.lines[1]).toBe("next");
  expect(window.cutLines).toBe(1);
});

it("does not cut a character in half", () => {
  const window = new LineWindow({ offset: 1, limit: 1 });
  window.addText(`x${"🦬".repeat(2000)}`);
  expect(window.lines[0]).toBe(`x${"🦬".repeat(999)}…`);
});
