import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { times } from "../../../../test/support/thorough.js";
import { VirtualTerminal } from "../../../testkit/virtual-terminal.js";
import { CONTINUED, fitLine } from "./fit-line.js";
import { NOTHING_PAINTED, type Painted, paintFrame } from "./painter.js";
import type { Frame } from "./terminal.js";

/** A painter with a screen behind it. */
class Easel {
  readonly screen: VirtualTerminal;
  painted: Painted = NOTHING_PAINTED;
  bytes = "";

  constructor(columns: number, rows: number) {
    this.screen = new VirtualTerminal({ columns, rows });
  }

  async paint(frame: Frame, printed: readonly string[] = []): Promise<string> {
    const { columns, rows } = this.screen;
    const next = paintFrame(this.painted, { frame, printed, columns, rows, reflow: "count" });
    this.painted = next.painted;
    this.bytes += next.bytes;
    await this.screen.write(next.bytes);
    return next.bytes;
  }
}

describe("the painter", () => {
  it("writes nothing for a frame that is there already", async () => {
    const easel = new Easel(40, 10);
    await easel.paint({ lines: ["one", "two"], cursor: { row: 1, column: 3 } });
    expect(await easel.paint({ lines: ["one", "two"], cursor: { row: 1, column: 3 } })).toBe("");
  });

  it("writes only what changed in a row, and only the changed rows", async () => {
    const easel = new Easel(80, 10);
    const before = ["a long row that stays", "the answer so far", "status"];
    await easel.paint({ lines: before, cursor: { row: 2, column: 0 } });
    const after = ["a long row that stays", "the answer so far and on", "status"];
    const bytes = await easel.paint({ lines: after, cursor: { row: 2, column: 0 } });
    expect(easel.screen.screen().slice(0, 3)).toEqual(after);
    expect(bytes).not.toContain("stays");
    expect(bytes).not.toContain("answer");
    expect(bytes.length).toBeLessThan(45);
  });

  it("keeps colours right when only the end of a row is written", async () => {
    const easel = new Easel(80, 10);
    const red = (text: string) => `\x1b[31m${text}\x1b[39m`;
    await easel.paint({ lines: [`plain ${red("some red words")}`] });
    const bytes = await easel.paint({ lines: [`plain ${red("some red words more")}`] });
    expect(bytes).toContain("\x1b[31ms more\x1b[39m\x1b[m");
    expect(easel.screen.screen()[0]).toBe("plain some red words more");
  });

  it("puts printed lines above, once, with their colours ended", async () => {
    const easel = new Easel(40, 6);
    await easel.paint({ lines: ["live"] }, ["first", "\x1b[1msecond"]);
    await easel.paint({ lines: ["live", "more"] }, ["third"]);
    for (let index = 0; index < 20; index++) await easel.paint({ lines: [`live ${index}`] }, [`row ${index}`]);
    const rows = Array.from({ length: 20 }, (_, index) => `row ${index}`);
    expect(easel.screen.lines()).toEqual(["first", "second", "third", ...rows, "live 19"]);
  });

  it("clips rows, drops the first rows of a frame that is too high, and never wraps a live row", async () => {
    const easel = new Easel(20, 4);
    const lines = ["lost", "x".repeat(50), `${"宽".repeat(15)}`, "👩‍👩‍👧‍👦".repeat(12), "end"];
    await easel.paint({ lines, cursor: { row: 4, column: 3 } });
    expect(easel.screen.screen()[0]).toBe("x".repeat(20));
    expect(easel.screen.screen()[1]).toBe("宽".repeat(10));
    expect(easel.screen.screen()[3]).toBe("end");
    expect(easel.screen.cursor).toEqual({ row: 3, column: 3 });
  });

  it("lets no control sequence of a line through but colours and links", async () => {
    const easel = new Easel(60, 8);
    await easel.paint({ lines: ["live"] }, ["kept"]);
    const hostile = [
      "\x1b[2J\x1b[3Ja\x1b[5Ab",
      "c\nd\re",
      "\x1b]0;title\x07f\x1bP1$q\x1b\\g",
      "\x9b2Jh\x08i\tj",
      "\x1b[5",
    ];
    await easel.paint({ lines: hostile }, ["more\x1b[Hand\x1b[2J", "two\nlines"]);
    expect(easel.screen.lines()).toEqual(["kept", "moreand", "two", "lines", "ab", "cde", "fg", "2Jhi   j"]);
    const link = "\x1b]8;;https://example.org\x1b\\text";
    expect(await easel.paint({ lines: [link] })).toContain(`${link}\x1b[m\x1b]8;;\x1b\\`);
  });

  it("makes room for a new row in the middle instead of writing the rows below again", async () => {
    const easel = new Easel(40, 8);
    const below = ["a status that is long enough to count", "> input"];
    for (let index = 0; index < 12; index++) {
      const bytes = await easel.paint({ lines: [`row ${index}`, ...below], cursor: { row: 2, column: 7 } }, [
        `p${index}`,
      ]);
      if (index > 0) expect(bytes).not.toContain("status");
    }
    const printed = Array.from({ length: 12 }, (_, index) => `p${index}`);
    expect(easel.screen.lines()).toEqual([...printed, "row 11", ...below]);
    expect(easel.screen.cursor).toEqual({ row: 7, column: 7 });
    await easel.paint({ lines: ["row 11", "between", ...below], cursor: { row: 3, column: 7 } });
    expect(easel.screen.lines()).toEqual([...printed, "row 11", "between", ...below]);
  });

  const paragraph = "Soft rows of one line: 'left' to the terminal, with 12 words  and blanks at ends. "
    .repeat(40)
    .trim();

  /** The rows of a line at a width, marked. */
  const rowsOf = (text: string, columns: number) =>
    Array.from({ length: Math.ceil(text.length / columns) }, (_, index) => {
      const part = text.slice(index * columns, (index + 1) * columns);
      return index === 0 ? part : CONTINUED + part;
    });

  it("keeps printed rows of one line as one line, however they come, and writes them once", async () => {
    for (const most of [1, 3, 7, 60]) {
      const easel = new Easel(40, 12);
      const rows = rowsOf(paragraph, 40);
      await easel.paint({ lines: ["----", "> "], cursor: { row: 1, column: 2 } }, ["before"]);
      for (let at = 0; at < rows.length; at += most) {
        // Streamed: the rows are live before they are printed.
        const live = rows.slice(at, at + most).map((row) => fitLine(row, 40));
        if (most < 10)
          await easel.paint({ lines: [...live, "----", "> "], cursor: { row: live.length + 1, column: 2 } });
        await easel.paint({ lines: ["----", "> "], cursor: { row: 1, column: 2 } }, rows.slice(at, at + most));
      }
      expect(easel.screen.lines()).toEqual(["before", paragraph, "----", ">"]);
      expect(easel.screen.cursor.column).toBe(2);
      if (most === 3 || most === 7) expect(easel.bytes.length / paragraph.length).toBeLessThan(2);
      easel.screen.resize({ columns: 64, rows: 12 });
      await easel.paint({ lines: ["----", "> "], cursor: { row: 1, column: 2 } }, ["after"]);
      expect(easel.screen.lines()).toEqual(["before", paragraph, "after", "----", ">"]);
    }
  });

  it("keeps colours, links and wide letters of such a line", async () => {
    const easel = new Easel(10, 8);
    const bold = (text: string) => `\x1b[1m${text}\x1b[22m`;
    const link = (text: string) => `\x1b]8;id=1;https://example.org\x1b\\${text}\x1b]8;;\x1b\\`;
    const rows = [bold("0123456789"), CONTINUED + bold("abcdefghij"), CONTINUED + link("klmnopqrst"), `${CONTINUED}u`];
    await easel.paint({ lines: [...rows, "live"] });
    await easel.paint({ lines: ["live"] }, rows);
    await easel.paint({ lines: ["live"] }, ["宽字符宽字", `${CONTINUED}符字符`]);
    await easel.paint({ lines: ["live"] }, ["a宽字符宽", `${CONTINUED}符字符`]);
    expect(easel.screen.lines()).toEqual([
      "0123456789abcdefghijklmnopqrstu",
      "宽字符宽字符字符",
      "a宽字符宽 符字符",
      "live",
    ]);
  });

  it("begins a new line where the row above is not full, or belongs to another size", async () => {
    const easel = new Easel(40, 12);
    const [first = "", ...rest] = rowsOf(paragraph.slice(0, 100), 40);
    await easel.paint({ lines: ["live"] }, [first]);
    easel.screen.resize({ columns: 50, rows: 12 });
    await easel.paint({ lines: ["live"] }, rest);
    expect(easel.screen.lines()).toEqual([first.trimEnd(), paragraph.slice(40, 100), "live"]);
  });

  it("writes 20,000 pieces of an answer in at most three times its size", () => {
    const size = { columns: 100, rows: 30 };
    let [text, whole, written, painted] = ["", 0, 0, NOTHING_PAINTED];
    for (let index = 0; index < 20_000; index++) {
      const piece = index % 11 === 10 ? "done\n\n" : `word${index % 7} `;
      text += piece;
      whole += piece.length;
      // Pieces come faster than frames: here four between two of them.
      if (index % 4 !== 3) continue;
      const lines = text.split("\n");
      text = lines.at(-1) ?? "";
      const live = [text, "", `⠋ working ${Math.floor(index / 400)}s`, "─".repeat(100), "> ", "model · 12% · $0.10"];
      const frame = { lines: live, cursor: { row: 4, column: 2 } };
      const next = paintFrame(painted, { frame, printed: lines.slice(0, -1), ...size, reflow: "cursor" });
      painted = next.painted;
      written += Buffer.byteLength(next.bytes);
    }
    expect(written / whole).toBeLessThan(3);
  });
});

const SURE = ["word", "longer-than-that", "宽字符", "é", "\x1b[1mbold\x1b[m", "12"];
/** Of these, the virtual terminal thinks other widths than we do. */
const UNSURE = [...SURE, "👍", "👩‍👩‍👧", "☺️"];

type Step = { frame: Frame; printed: string[] } | { columns?: number; rows?: number };

function stepsOf(words: readonly string[], size: fc.Arbitrary<Step>): fc.Arbitrary<Step[]> {
  const line = fc.array(fc.constantFrom(...words), { maxLength: 9 }).map((all) => all.join(" "));
  const cursor = fc.option(fc.record({ row: fc.nat(3), column: fc.nat(60) }), { nil: undefined });
  const frame = fc
    .record({ lines: fc.array(line, { minLength: 1, maxLength: 4 }), cursor })
    .map(({ lines, cursor: at }): Frame => {
      return at === undefined ? { lines } : { lines, cursor: { ...at, row: Math.min(at.row, lines.length - 1) } };
    });
  // Some printed lines continue the one before: at this width it is full. The virtual terminal damages joined characters when it wraps anew.
  const soft = fc
    .array(fc.tuple(line, fc.boolean()), { maxLength: 3 })
    .map((all) =>
      all.flatMap(([text, isLong]) =>
        isLong && !/\p{Extended_Pictographic}/u.test(text)
          ? [`\x1b[1m${"0123456 x ".repeat(6)}\x1b[m`, CONTINUED + text]
          : [text],
      ),
    );
  const step = fc.oneof({ weight: 4, arbitrary: fc.record({ frame, printed: soft }) }, { weight: 1, arbitrary: size });
  return fc.array(step, { minLength: 1, maxLength: 25 });
}

/** Without blanks: a wide character that does not fit at the end of a row leaves one there. */
function seen(text: string): string {
  return text.replace(/\x1b\[[0-9;]*m| /g, "");
}

/** Plays the steps. After each, `check` gets the lines of the terminal, the printed ones and the live ones. */
async function play(steps: readonly Step[], check: (lines: string[], printed: string[], live: string[]) => void) {
  const easel = new Easel(60, 20);
  const printed: string[] = ["before the program", "", "a row of the shell"];
  await easel.screen.write(`${printed.join("\r\n")}\r\n`);
  let last: Frame = { lines: ["start"] };
  await easel.paint(last);
  for (const step of steps) {
    const lines = "printed" in step ? step.printed : [];
    if ("frame" in step) last = step.frame;
    else easel.screen.resize({ columns: easel.screen.columns, rows: easel.screen.rows, ...step });
    for (const text of lines) {
      if (text.startsWith(CONTINUED)) printed.push(printed.pop() + text.slice(1));
      else printed.push(text);
    }
    await easel.paint(last, lines);
    const live = last.lines.map((text) => seen(fitLine(text, easel.screen.columns)));
    check(easel.screen.lines().map(seen), printed.map(seen), live);
  }
  expect(easel.bytes).not.toMatch(/\x1b\[[23]J|\x1b\[\d*;?\d*[rH]/);
}

describe("however frames, prints and sizes follow each other", () => {
  const columns = fc.integer({ min: 24, max: 90 });
  const rows = fc.integer({ min: 18, max: 30 });
  const options = { numRuns: times(40, 400), seed: 14 };

  it("the scrollback holds the printed lines in order, and only the live part is written again", async () => {
    const property = fc.asyncProperty(stepsOf(SURE, fc.oneof(fc.record({ columns }), fc.record({ rows }))), (steps) =>
      play(steps, (lines, printed, live) => {
        const expected = [...printed, ...live];
        expect(lines).toEqual(expected.slice(0, expected.findLastIndex((text) => text !== "") + 1));
      }),
    );
    await fc.assert(property, options);
  });

  it("no printed line is lost where the terminal thinks other widths, or gets narrower and lower at once", async () => {
    const property = fc.asyncProperty(stepsOf(UNSURE, fc.record({ columns, rows })), (steps) =>
      play(steps, (lines, printed) => {
        let at = 0;
        for (const line of printed.filter((text) => text !== "")) {
          at = lines.indexOf(line, at) + 1;
          expect(at, line).toBeGreaterThan(0);
        }
      }),
    );
    await fc.assert(property, options);
  });
});
