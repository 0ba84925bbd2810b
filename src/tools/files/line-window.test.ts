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

it("is full when the lines are too much to show, and shows one line in any case", () => {
  const long = "x".repeat(1999);
  const window = new LineWindow({ offset: 1, limit: 1000 });
  window.addText(`${long}\n`.repeat(40));
  // With its line end each takes 2,000 of 50,000 characters.
  expect([window.lines.length, window.isFull, window.linesSeen]).toEqual([25, true, 40]);
  const cut = new LineWindow({ offset: 1, limit: 1000 });
  cut.addText(`${"y".repeat(3000)}\n`.repeat(30));
  expect([cut.lines.length, cut.cutLines, cut.isFull]).toEqual([24, 24, true]);
  const short = new LineWindow({ offset: 1, limit: 1000 });
  short.addText("\n".repeat(900));
  expect([short.lines.length, short.isFull]).toEqual([900, false]);
});

it("cuts a line after 2,000 characters, not before", () => {
  for (const add of [
    (window: LineWindow, text: string) => window.addText(text),
    (window: LineWindow, text: string) => {
      window.addBytes(Buffer.from(text));
      window.end();
    },
  ]) {
    for (const [length, cut] of [
      [2000, 0],
      [2001, 1],
      [8000, 1],
      [8001, 1],
    ] as const) {
      const window = new LineWindow({ offset: 2, limit: 3 });
      add(window, `before\n${"x".repeat(length)}\nlast`);
      expect(window.lines, String(length)).toEqual([`${"x".repeat(2000)}`.concat(cut === 1 ? "…" : ""), "last"]);
      expect(window.cutLines).toBe(cut);
    }
  }
  // 2,000 characters of four bytes each.
  const wide = new LineWindow({ offset: 1, limit: 3 });
  wide.addBytes(Buffer.from(`${"漢".repeat(2000)}\r\n`));
  expect([wide.lines, wide.cutLines]).toEqual([["漢".repeat(2000)], 0]);
});

it("leaves out a byte order mark at the beginning of the first line only, and reads Latin-1 where it is not UTF-8", () => {
  const window = new LineWindow({ offset: 1, limit: 9 });
  window.addBytes(Buffer.from("\ufeffa\n\ufeffb\n"));
  window.addBytes(Buffer.from([0xe9, 10, 0xef, 0xbf, 0xbd, 10]));
  expect(window.lines).toEqual(["a", "\ufeffb", "é", "\ufffd"]);
});

it("counts what it does not show", () => {
  const window = new LineWindow({ offset: 3, limit: 1 });
  window.addBytes(Buffer.from("a\nb"));
  window.end();
  expect([window.linesSeen, window.lines, window.isFull]).toEqual([2, [], false]);
  const text = new LineWindow({ offset: 2, limit: 1 });
  text.addText("a\nb\nc\nd");
  expect([text.linesSeen, text.lines, text.isFull]).toEqual([4, ["b"], true]);
});
