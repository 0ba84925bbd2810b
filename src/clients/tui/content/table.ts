/**
 * Tables by display width.
 *
 * 1. Columns are as wide as their cells; if that is too wide, the widest ones get narrower and their cells wrap.
 * 2. If even narrow columns do not fit, every row becomes a list of `head: cell`.
 */
import { textWidth } from "../../../base/text-width.js";
import type { Theme } from "../theme.js";
import { parseInline } from "./inline.js";
import type { Align } from "./markdown-lines.js";
import { codeMarkOf, paintSpan, plainText, type Span, span } from "./spans.js";
import { breakLine, splitLines, wrapSpans } from "./wrap.js";

export interface TableSource {
  readonly align: readonly Align[];
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

interface Cell {
  readonly spans: readonly Span[];
  readonly width: number;
  /** The width of its longest word. */
  readonly word: number;
}

interface View {
  readonly width: number;
  readonly theme: Theme;
}

const MIN_COLUMN = 4;
/** A column stays at least as wide as its longest word, up to this width. */
const MAX_WORD = 16;
const MAX_PARSED = 4096;

export interface TableLayout {
  readonly lines: string[];
  /** For rows that come later: laid out in the same columns. */
  readonly columns: readonly number[] | undefined;
}

/** `columns` are those of an earlier part of the table: then there is no head. */
export function layoutTable(
  source: TableSource,
  view: View,
  { columns: known }: { readonly columns?: readonly number[] | undefined } = {},
): TableLayout {
  const count = source.align.length;
  const { theme } = view;
  const head = known === undefined ? [row(source.head, count, { theme, role: "strong" })] : [];
  const rows = source.rows.map((cells) => row(cells, count, { theme }));
  const columns = known ?? columnWidths([...head, ...rows], view.width - 3 * (count - 1));
  if (columns === undefined || columns.length !== count) return { lines: records(source, view), columns: undefined };
  const ruled = rows.some((cells) => cells.some((cell, at) => wraps(cell, columns[at] as number)));
  const lines: string[] = [];
  for (const cells of head) lines.push(...layoutRow(cells, columns, { source, view }));
  for (const [index, cells] of rows.entries()) {
    if ((index === 0 && known === undefined) || ruled) lines.push(rule(columns, view.theme));
    lines.push(...layoutRow(cells, columns, { source, view }));
  }
  if (rows.length === 0 && known === undefined) lines.push(rule(columns, view.theme));
  return { lines, columns };
}

function row(texts: readonly string[], count: number, { theme, role }: { theme: Theme; role?: "strong" }): Cell[] {
  const codeMark = codeMarkOf(theme);
  return Array.from({ length: count }, (_, at) => {
    // The last column shows surplus cells.
    const whole = at === count - 1 && texts.length > count ? texts.slice(at).join(" | ") : (texts[at] ?? "");
    // A tab has no fixed width within a column.
    const text = whole.replaceAll("\t", " ");
    const parsed = text.length > MAX_PARSED ? [span(text)] : parseInline(text, codeMark);
    const spans = role === undefined ? parsed : parsed.map((each) => ({ ...each, roles: [...each.roles, role] }));
    const lines = splitLines(spans).map(plainText);
    const words = lines.flatMap((line) => line.split(" "));
    return {
      spans,
      width: Math.max(0, ...lines.map(textWidth)),
      word: words.reduce((most, word) => Math.max(most, textWidth(word)), 0),
    };
  });
}

function wraps(cell: Cell, width: number): boolean {
  return cell.width > width || plainText(cell.spans).includes("\n");
}

/** Undefined if the columns do not fit at all. */
function columnWidths(rows: readonly (readonly Cell[])[], room: number): number[] | undefined {
  const count = rows[0]?.length ?? 0;
  const of = (pick: (cell: Cell) => number) =>
    Array.from({ length: count }, (_, at) => rows.reduce((most, cells) => Math.max(most, pick(cells[at] as Cell)), 1));
  const natural = of((cell) => cell.width);
  if (sum(natural) <= room) return natural;
  const least = of((cell) => Math.min(cell.word, MAX_WORD)).map((word, at) =>
    Math.min(natural[at] as number, Math.max(MIN_COLUMN, word)),
  );
  if (sum(least) <= room) return shrink(natural, least, room);
  const narrow = natural.map((width) => Math.min(width, MIN_COLUMN));
  return sum(narrow) <= room ? shrink(least, narrow, room) : undefined;
}

/** Takes cells from the widest columns until they fit. */
function shrink(from: readonly number[], least: readonly number[], room: number): number[] {
  let low = 1;
  let high = Math.max(...from);
  const capped = (cap: number) => from.map((width, at) => Math.max(least[at] as number, Math.min(width, cap)));
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (sum(capped(middle)) <= room) low = middle;
    else high = middle - 1;
  }
  const widths = capped(low);
  let left = room - sum(widths);
  for (let at = 0; at < widths.length && left > 0; at++) {
    if ((widths[at] as number) < (from[at] as number)) {
      widths[at] = (widths[at] as number) + 1;
      left--;
    }
  }
  return widths;
}

function sum(widths: readonly number[]): number {
  return widths.reduce((total, width) => total + width, 0);
}

function layoutRow(
  cells: readonly Cell[],
  columns: readonly number[],
  { source, view: { theme } }: { source: TableSource; view: View },
): string[] {
  const blocks = cells.map((cell, at) => cellLines(cell, columns[at] as number, theme));
  const height = Math.max(1, ...blocks.map((block) => block.length));
  const bar = theme.dim("│");
  return Array.from({ length: height }, (_, index) => {
    let line = "";
    let pending = "";
    for (const [at, block] of blocks.entries()) {
      if (at > 0) {
        line += `${pending} ${bar}`;
        pending = " ";
      }
      const { text, width } = block[index] ?? { text: "", width: 0 };
      const space = (columns[at] as number) - width;
      const before = source.align[at] === "right" ? space : source.align[at] === "center" ? space >> 1 : 0;
      if (text !== "") {
        line += pending + " ".repeat(before) + text;
        pending = " ".repeat(space - before);
      } else pending += " ".repeat(columns[at] as number);
    }
    return line;
  });
}

function cellLines(cell: Cell, width: number, theme: Theme): { text: string; width: number }[] {
  return splitLines(cell.spans).flatMap((line) => {
    const text = plainText(line);
    return breakLine(text, width).map(({ start, end }) => {
      const shown = slice(line, start, end);
      return { text: shown.map((each) => paintSpan(each, theme)).join(""), width: textWidth(plainText(shown)) };
    });
  });
}

function slice(spans: readonly Span[], start: number, end: number): Span[] {
  const out: Span[] = [];
  let from = 0;
  for (const each of spans) {
    const text = each.text.slice(Math.max(0, start - from), Math.max(0, end - from));
    if (text !== "") out.push({ ...each, text });
    from += each.text.length;
  }
  return out;
}

function rule(columns: readonly number[], theme: Theme): string {
  const [line, cross] = ["─", "─┼─"];
  return theme.dim(columns.map((width) => (line as string).repeat(width)).join(cross));
}

function records({ align, head, rows }: TableSource, view: View): string[] {
  const lines: string[] = [];
  const titles = row(head, align.length, { theme: view.theme, role: "strong" });
  for (const [index, cells] of rows.entries()) {
    if (index > 0) lines.push("");
    for (const [at, cell] of row(cells, align.length, view).entries()) {
      const title = (titles[at] as Cell).spans;
      if (cell.width === 0) continue;
      lines.push(...wrapSpans(plainText(title) === "" ? cell.spans : [...title, span(": "), ...cell.spans], view));
    }
  }
  return rows.length > 0
    ? lines
    : wrapSpans(
        titles.flatMap((cell) => [...cell.spans, span(" ")]),
        view,
      );
}
