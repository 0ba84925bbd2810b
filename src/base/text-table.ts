/** Tables for the terminal: aligned by cells, fitted to the width, safe for any content. */

import { paint, type Style } from "./terminal-style.js";
import { safeLine } from "./terminal-text.js";
import { type Alignment, padText, textWidth, truncateText } from "./text-width.js";

export interface Column<Row> {
  readonly header: string;
  readonly value: (row: Row) => string | undefined;
  readonly align?: Alignment;
  /** The column with the lowest priority is narrowed and dropped first. Default 0; of equals, the last. */
  readonly priority?: number;
  /** Below this width the column is dropped. Default: 8 cells, or the width of its longest cell. */
  readonly minWidth?: number;
  /** Never wider than this, however much room there is. */
  readonly maxWidth?: number;
  readonly style?: (row: Row) => Style | undefined;
}

export interface TableOptions {
  /** Cells of the terminal; absent for a pipe or a file, where nothing is cut. */
  readonly width?: number | undefined;
  readonly color: boolean;
}

const GAP = 2;
const READABLE = 8;

interface Measured<Row> {
  readonly column: Column<Row>;
  readonly cells: readonly string[];
  readonly natural: number;
  readonly least: number;
}

interface Placed<Row> extends Measured<Row> {
  readonly width: number;
}

/** The header and a line for each row, without a newline at the end. */
export function renderTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], options: TableOptions): string {
  const placed = fitted(
    columns.map((column) => measure(column, rows, options)),
    options.width ?? Number.POSITIVE_INFINITY,
  );
  const header = placed.map((place) => ({ place, text: safeLine(place.column.header), style: "bold" as Style }));
  const lines = rows.map((row, index) =>
    placed.map((place) => ({ place, text: place.cells[index] ?? "", style: place.column.style?.(row) })),
  );
  return [header, ...lines].map((cells) => renderLine(cells, options)).join("\n");
}

function measure<Row>(column: Column<Row>, rows: readonly Row[], { width }: TableOptions): Measured<Row> {
  const cells = rows.map((row) => safeLine(column.value(row) ?? ""));
  const longest = cells.reduce((most, cell) => Math.max(most, textWidth(cell)), textWidth(safeLine(column.header)));
  const natural = width === undefined ? longest : Math.min(longest, column.maxWidth ?? longest);
  return { column, cells, natural, least: Math.min(natural, column.minWidth ?? READABLE) };
}

/** Narrows the least important columns while they stay readable; if that is not enough, drops the least important one. */
function fitted<Row>(columns: readonly Measured<Row>[], width: number): Placed<Row>[] {
  const byImportance = [...columns.entries()].sort(
    ([a, left], [b, right]) => (left.column.priority ?? 0) - (right.column.priority ?? 0) || b - a,
  );
  const widths = columns.map((column) => column.natural);
  let excess = widths.reduce((sum, each) => sum + each, 0) + GAP * Math.max(0, columns.length - 1) - width;
  for (const [index, { natural, least }] of byImportance) {
    const less = Math.max(0, Math.min(excess, natural - least));
    widths[index] = natural - less;
    excess -= less;
  }
  const [least] = byImportance;
  if (excess <= 0 || least === undefined) {
    return columns.map((column, index) => ({ ...column, width: widths[index] ?? column.natural }));
  }
  if (columns.length === 1) return columns.map((column) => ({ ...column, width: Math.max(1, width) }));
  return fitted(columns.toSpliced(least[0], 1), width);
}

interface Cell<Row> {
  readonly place: Placed<Row>;
  readonly text: string;
  readonly style: Style | undefined;
}

function renderLine<Row>(cells: readonly Cell<Row>[], options: TableOptions): string {
  const shown = cells.map(({ place, text, style }, index) => {
    const cut = truncateText(text, place.width);
    const align = place.column.align ?? "left";
    const isLast = index === cells.length - 1;
    const padded = isLast && align === "left" ? cut : padText(cut, place.width, align);
    return style === undefined ? padded : paint(options, style, padded);
  });
  return shown.join(" ".repeat(GAP)).trimEnd();
}

const UNITS: readonly (readonly [name: string, ms: number])[] = [
  ["y", 365 * 86_400_000],
  ["mo", 30 * 86_400_000],
  ["w", 7 * 86_400_000],
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
];

/** Tells how long ago something was: `now`, `42s ago`, `3h ago`, `2mo ago`. A future time (clocks differ) is `in 5m`. */
export function ago(ms: number): string {
  const distance = Math.abs(ms);
  const unit = UNITS.find(([, size]) => distance >= size);
  if (unit === undefined || !Number.isFinite(ms)) return Number.isFinite(ms) ? "now" : "—";
  const amount = `${Math.floor(distance / unit[1])}${unit[0]}`;
  return ms > 0 ? `${amount} ago` : `in ${amount}`;
}
