/**
 * What a terminal does with the live rows when its window gets narrower: most wrap each row that is now too long. The cursor is then
 * further from the first live row than before.
 */
import { characters, characterWidth, textWidth } from "../../../base/text-width.js";
import { certainWidth } from "./certain-width.js";
import { withoutStyles } from "./fit-line.js";
import type { Painted } from "./painter.js";

/**
 * `cursor`: all rows are wrapped, and the cursor stays at its character. Most terminals.
 * `count`: the cursor goes down by one for each new row, also for those below it, and the row where it then stands is cut. xterm.js.
 * `none`: rows are cut. The original xterm, GNU screen.
 */
export type Reflow = "cursor" | "count" | "none";

export interface NewSize {
  readonly columns: number;
  readonly rows: number;
  readonly reflow: Reflow;
}

export function rowsAboveCursor(painted: Painted, { columns, rows, reflow }: NewSize): number {
  const { lines, row, column } = painted;
  if (columns >= painted.columns || reflow === "none") return row;
  const added = lines.map((line) => wrappedRows(line, columns) - 1);
  if (reflow === "cursor") return row + sum(added.slice(0, row)) + Math.floor(column / columns);
  // A screen that is lower, too, first loses rows below the cursor. We cannot know how many of them are ours, only the maximum.
  const lost = Math.max(0, painted.rows - rows);
  const kept = added.slice(0, Math.max(row + 1, added.length - lost));
  // From the last row to the first, as xterm.js does it.
  return kept.reduceRight((cursor, more, index) => (cursor === index ? cursor : cursor + more), row);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, number) => all + number, 0);
}

/**
 * The minimum number of rows of `columns` cells for a line. A character with a disputed width counts as narrow: one row too few leaves
 * a remnant, but one row too many would erase text above the live part.
 */
function wrappedRows(line: string, columns: number): number {
  const text = withoutStyles(line);
  if (textWidth(text) <= columns) return 1;
  let [rows, used] = [1, 0];
  for (const segment of characters(text)) {
    const cells = (segment.length === 1 && certainWidth(segment.charCodeAt(0))) || Math.min(1, characterWidth(segment));
    // A wide character that does not fit at the end of a row moves to the next.
    if (used + cells > columns) {
      rows++;
      used = 0;
    }
    used += cells;
  }
  return rows;
}
