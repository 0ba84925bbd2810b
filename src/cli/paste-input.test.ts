import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { ManualClock } from "../base/clock.js";
import { PasteInput } from "./paste-input.js";
import { PasteMarks } from "./paste-marks.js";

/** Tells what a reader of lines gets to see when the pieces arrive one after the other. */
async function read(pieces: readonly (string | number)[], { ahead = false } = {}): Promise<readonly string[]> {
  const source = new PassThrough();
  const clock = new ManualClock();
  const seen: string[] = [];
  const onPaste = (text: string) => void seen.push(`paste: ${text}`);
  const input = new PasteInput({ source: source as unknown as NodeJS.ReadStream, clock, onPaste });
  const reader = createInterface({ input: input as unknown as NodeJS.ReadableStream, terminal: true, historySize: 0 });
  reader.on("line", (line) => seen.push(`line: ${line}`));
  input.resume();
  if (!ahead) clock.advance(1000);
  for (const piece of pieces) {
    if (typeof piece === "number") clock.advance(piece);
    else source.write(Buffer.from(piece, "latin1"));
    await new Promise(setImmediate);
  }
  if (reader.line !== "") seen.push(`rest: ${reader.line}`);
  reader.close();
  input.close();
  return seen;
}

const utf8 = (text: string) => Buffer.from(text).toString("latin1");

describe("the keys of a terminal", () => {
  it("are lines, and a marked paste is one paste between them", async () => {
    expect(await read(["hello\r", "ab\x1b[200~x\ry\r\x1b[201~cd\r"])).toEqual([
      "line: hello",
      "paste: x\ry\r",
      "line: abcd",
    ]);
  });

  it("hold a paste together that comes in pieces, also with its marks and characters cut", async () => {
    const whole = utf8("a\x1b[200~one\rzwö\rdrei\x1b[201~b");
    for (let cut = 1; cut < whole.length; cut++) {
      const seen = await read([whole.slice(0, cut), whole.slice(cut)]);
      expect(seen, String(cut)).toEqual(["paste: one\rzwö\rdrei", "rest: ab"]);
    }
    expect(await read([...whole])).toEqual(["paste: one\rzwö\rdrei", "rest: ab"]);
  });

  it("take lines that arrive at once for a paste where the terminal marks none", async () => {
    expect(await read(["one\rtwo\rthr", "ee\rfour", 100, "!\r"])).toEqual(["paste: one\rtwo\rthree\rfour", "line: !"]);
    expect(await read(["\x1b[200~x\x1b[201~", "one\rtwo\r"])).toEqual(["paste: x", "line: one", "line: two"]);
  });

  it("take what a person types for lines, also when it was typed ahead", async () => {
    expect(await read(["one\r", "two\r"])).toEqual(["line: one", "line: two"]);
    expect(await read(["one\rtwo\r"], { ahead: true })).toEqual(["line: one", "line: two"]);
    expect(await read(["h", "i", "\x1b[D", "\x1b[3~", "\r"])).toEqual(["line: h"]);
  });
});

describe("marks of pastes", () => {
  it("stand for their text, each for its own", () => {
    const marks = new PasteMarks();
    const first = marks.shown("a\nb\n");
    const second = marks.shown("c\nd");
    expect([first, second]).toEqual(["[pasted 2 lines]", "[pasted 2 lines, no. 2]"]);
    expect(marks.expand(`see ${first} and ${second}.`)).toBe("see a\nb and c\nd.");
    expect(marks.shown("one line\n")).toBe("one line");
    expect(marks.startsWithMark(` ${first} x`)).toBe(true);
    expect(marks.startsWithMark(`x ${first}`)).toBe(false);
    expect(marks.endingMark(`x ${second}`)).toBe(second);
  });

  it("show no pattern that a paste could use", () => {
    const marks = new PasteMarks();
    const mark = marks.shown("$& $1\n$$");
    expect(marks.expand(mark)).toBe("$& $1\n$$");
  });
});
