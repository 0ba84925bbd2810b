import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ago, type Column, renderTable } from "./text-table.js";
import { textWidth } from "./text-width.js";

interface Session {
  readonly id: string;
  readonly title: string;
  readonly turns: number;
  readonly when: string;
}

const COLUMNS: readonly Column<Session>[] = [
  { header: "ID", value: (row) => row.id, priority: 3, minWidth: 4 },
  { header: "TURNS", value: (row) => String(row.turns), align: "right", priority: 1, minWidth: 5 },
  { header: "TITLE", value: (row) => row.title, priority: 2, minWidth: 6 },
  { header: "ACTIVE", value: (row) => row.when },
];

const ROWS: readonly Session[] = [
  { id: "s1", title: "Fix the parser", turns: 3, when: "3h ago" },
  { id: "s2", title: "世界地図を描く", turns: 12, when: "2d ago" },
];

const table = (width?: number) => renderTable(COLUMNS, ROWS, { width, color: false });

describe("renderTable", () => {
  it("aligns by cells, also with wide characters, and leaves no space at the end of a line", () => {
    expect(table(80).split("\n")).toEqual([
      "ID  TURNS  TITLE           ACTIVE",
      "s1      3  Fix the parser  3h ago",
      "s2     12  世界地図を描く  2d ago",
    ]);
  });

  it("cuts nothing without a width", () => {
    const long = "x".repeat(500);
    const shown = renderTable([{ header: "A", value: () => long, maxWidth: 10 }], [1], { color: false });
    expect(shown).toBe(`A\n${long}`);
  });

  it("narrows the least important columns first, down to their least width", () => {
    expect(table(31).split("\n")).toEqual([
      "ID  TURNS  TITLE         ACTIVE",
      "s1      3  Fix the par…  3h ago",
      "s2     12  世界地図を…   2d ago",
    ]);
  });

  it("leaves out the least important column when narrowing is not enough, and gives its room to the others", () => {
    expect(table(24).split("\n")).toEqual(["ID  TURNS  TITLE", "s1      3  Fix the pars…", "s2     12  世界地図を描…"]);
    expect(table(14).split("\n")[0]).toBe("ID  TITLE");
    expect(table(4).split("\n")).toEqual(["ID", "s1", "s2"]);
    expect(table(1).split("\n")).toEqual(["…", "…", "…"]);
  });

  it("respects the greatest width of a column", () => {
    const columns = [{ header: "A", value: (text: string) => text, maxWidth: 5 }];
    expect(renderTable(columns, ["abcdefgh"], { width: 80, color: false })).toBe("A\nabcd…");
  });

  it("makes cells harmless and keeps them on one line", () => {
    const columns = [{ header: "A", value: (text: string) => text }];
    const shown = renderTable(columns, ["red\u001b[31m\nnext\u001b]0;title\u0007\ttab"], { width: 80, color: false });
    expect(shown).toBe("A\nred␊next␛]0;title␇␉tab");
  });

  it("colours without changing what is read", () => {
    const columns = COLUMNS.map((column) => ({ ...column, style: () => "red" as const }));
    const shown = renderTable(columns, ROWS, { width: 31, color: true });
    expect(shown).toContain("\u001b[31m");
    const plain = shown.replaceAll(/\u001b\[\d+m/g, "").replaceAll(/ +$/gm, "");
    expect(plain).toBe(table(31));
  });

  it("shows the header alone for no rows, and nothing for no columns", () => {
    expect(renderTable(COLUMNS, [], { width: 40, color: false })).toBe("ID  TURNS  TITLE  ACTIVE");
    expect(renderTable([], [1], { width: 40, color: false })).toBe("\n");
  });

  it("never writes a line wider than the terminal", () => {
    const column = fc.record({
      header: fc.string({ maxLength: 12 }),
      priority: fc.integer({ min: 0, max: 3 }),
      minWidth: fc.integer({ min: 1, max: 10 }),
      align: fc.constantFrom("left" as const, "right" as const),
      text: fc.string({ unit: "grapheme", maxLength: 40 }),
    });
    fc.assert(
      fc.property(fc.array(column, { maxLength: 6 }), fc.integer({ min: 1, max: 60 }), (columns, width) => {
        const shown = renderTable(
          columns.map(({ text, ...rest }) => ({ ...rest, value: () => text })),
          [1, 2],
          { width, color: false },
        );
        expect(shown.split("\n")).toHaveLength(3);
        for (const line of shown.split("\n")) expect(textWidth(line)).toBeLessThanOrEqual(width);
      }),
    );
  });
});

describe("ago", () => {
  const minute = 60_000;
  it.each([
    [0, "now"],
    [999, "now"],
    [-500, "now"],
    [42_000, "42s ago"],
    [minute, "1m ago"],
    [59.9 * minute, "59m ago"],
    [25 * 60 * minute, "1d ago"],
    [8 * 24 * 60 * minute, "1w ago"],
    [65 * 24 * 60 * minute, "2mo ago"],
    [800 * 24 * 60 * minute, "2y ago"],
    [-5 * minute, "in 5m"],
    [Number.NaN, "—"],
  ])("says %d ms as %s", (ms, text) => {
    expect(ago(ms)).toBe(text);
  });
});
