/**
 * What a terminal does with the live rows when it is made narrower: most wrap each row that has become too long. The way from the
 * cursor up to the first live row is then longer than it was.
 */
import { visibleWidth } from "@earendil-works/pi-tui/dist/utils.js";
import type { Painted } from "./painter.js";

const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const SEQUENCES = /\x1b\[[0-9;:]*m|\x1b\]8;[^\x07\x1b]*(?:\x07|\x1b\\)/g;

/**
 * `cursor`: all rows are wrapped, and the cursor stays at its character. Most terminals.
 * `count`: the row of the cursor is cut, and the cursor goes down by one for each new row, also for those below it. xterm.js.
 * `none`: rows are cut. The original xterm, GNU screen.
 */
export type Reflow = "cursor" | "count" | "none";

export function rowsAboveCursor(
  { lines, row, column, columns: before }: Painted,
  { columns, reflow }: { readonly columns: number; readonly reflow: Reflow },
): number {
  if (columns >= before || reflow === "none") return row;
  const added = lines.map((line) => wrappedRows(line, columns) - 1);
  const sum = (numbers: readonly number[]) => numbers.reduce((all, number) => all + number, 0);
  if (reflow === "count") return row + sum(added) - (added[row] ?? 0);
  return row + sum(added.slice(0, row)) + Math.floor(column / columns);
}

/** How many rows of `columns` cells a line takes. A wide character that does not fit at the end of a row moves to the next. */
export function wrappedRows(line: string, columns: number): number {
  const width = visibleWidth(line);
  if (width <= columns) return 1;
  if (/^[\x20-\x7e]*$/.test(line)) return Math.ceil(width / columns);
  let [rows, used] = [1, 0];
  for (const { segment } of GRAPHEMES.segment(line.replace(SEQUENCES, ""))) {
    const cells = visibleWidth(segment);
    if (used + cells > columns) {
      rows++;
      used = 0;
    }
    used += cells;
  }
  return rows;
}
