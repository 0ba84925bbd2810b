/** Diffs with numbers, colours and the words that changed, one column or two. */
import { safeLine } from "../../../../base/terminal-text.js";
import { expandTabs } from "../../../../base/text-width.js";
import type { Role, Theme } from "../../theme.js";
import { type Span, span } from "../spans.js";
import type { Highlighter } from "../tools.js";
import { clipSpans } from "../wrap.js";
import type { DiffLine, Hunk } from "./hunks.js";
import { splitRows } from "./split.js";
import { type ShownLine, unifiedRow } from "./unified.js";
import { type Piece, wordMarks } from "./word-marks.js";

export interface DiffOptions {
  readonly width: number;
  readonly theme: Theme;
  readonly layout?: "unified" | "split";
  /** More lines than this are cut, with a count. */
  readonly maxLines?: number;
  /** Colours the code of lines that are not changed, and of a new file. */
  readonly highlighter?: Highlighter;
  /** There was no file before: the left column says so. */
  readonly isNew?: boolean;
}

/** Below this, two columns are too narrow to read. */
const LEAST_SPLIT = 80;

export function renderDiff(hunks: readonly Hunk[], options: DiffOptions): string[] {
  const { width, theme, maxLines = Number.POSITIVE_INFINITY } = options;
  const shown = hunks.map((hunk) => highlighted(markedLines(hunk, theme), options));
  const digits = digitsOf(shown.flat());
  const isSplit = options.layout === "split" && width >= LEAST_SPLIT;
  const lines: string[] = [];
  let left = 0;
  for (const [index, hunk] of shown.entries()) {
    if (lines.length >= maxLines) {
      left += hunk.length;
      continue;
    }
    if (index > 0)
      lines.push(clipSpans([span(" ".repeat(digits)), span(theme.ascii ? " ..." : " ⋯", "dim")], { width, theme }));
    if (isSplit)
      lines.push(...splitRows(hunk, { width, theme, digits, ...(options.isNew && { missing: "[new file]" }) }));
    else {
      for (const line of hunk) {
        if (lines.length >= maxLines) left++;
        else lines.push(...unifiedRow(line, { width, theme, digits }));
      }
    }
  }
  if (lines.length > maxLines) {
    left += lines.length - maxLines;
    lines.length = maxLines;
  }
  if (left > 0) {
    const words = `${theme.ascii ? "..." : "…"} ${left} more line${left === 1 ? "" : "s"}`;
    lines.push(clipSpans([span(words, "dim")], { width, theme }));
  }
  return lines;
}

/** The rows of each line, in one column. */
export function diffRows(hunk: Hunk, options: DiffOptions): readonly (readonly string[])[] {
  const { width, theme } = options;
  const lines = highlighted(markedLines(hunk, theme), options);
  const digits = digitsOf(lines);
  return lines.map((line) => unifiedRow(line, { width, theme, digits }));
}

function digitsOf(lines: readonly DiffLine[]): number {
  return String(lines.reduce((most, line) => Math.max(most, line.newNumber ?? 0, line.oldNumber ?? 0), 1)).length;
}

/** Pairs the removed lines of a change with the added ones, in order, and marks their words. */
function markedLines(hunk: Hunk, theme: Theme): ShownLine[] {
  const out: ShownLine[] = [];
  for (let at = 0; at < hunk.lines.length; ) {
    const removed = run(hunk.lines, at, "removed");
    const added = run(hunk.lines, at + removed.length, "added");
    if (removed.length === 0 && added.length === 0) {
      const line = hunk.lines[at] as DiffLine;
      out.push({ ...line, spans: [span(clean(line.text).trimEnd())] });
      at++;
      continue;
    }
    const marks = removed.map((line, index) => {
      const other = added[index];
      return other === undefined ? undefined : wordMarks(clean(line.text), clean(other.text));
    });
    out.push(...removed.map((line, index) => changedLine(line, theme, marks[index]?.[0])));
    out.push(...added.map((line, index) => changedLine(line, theme, marks[index]?.[1])));
    at += removed.length + added.length;
  }
  return out;
}

/** Colouring more lines would delay the answer to a key. */
const MOST_HIGHLIGHTED = 1000;

/** In a changed line the colours show the change. */
function highlighted(lines: ShownLine[], { highlighter, isNew }: DiffOptions): ShownLine[] {
  if (lines.length > MOST_HIGHLIGHTED) return lines;
  let state = highlighter;
  return lines.map((line) => {
    if (state === undefined || line.kind === "removed") return line;
    const { spans, next } = state.line(clean(line.text).trimEnd());
    state = next;
    return line.kind === "same" || isNew ? { ...line, spans } : line;
  });
}

function run(lines: readonly DiffLine[], from: number, kind: DiffLine["kind"]): DiffLine[] {
  let end = from;
  while (lines[end]?.kind === kind) end++;
  return lines.slice(from, end);
}

function changedLine(line: DiffLine, theme: Theme, pieces?: readonly Piece[]): ShownLine {
  const role: Role = line.kind === "added" ? "added" : "removed";
  const word: Role = line.kind === "added" ? "addedWord" : "removedWord";
  const spans = pieces?.map(({ text, isChanged }) => span(text, isChanged ? word : role));
  return { ...line, spans: withTrailing(spans ?? [span(clean(line.text), role)], theme) };
}

/** Makes spaces at the end of a changed line visible. */
function withTrailing(spans: readonly Span[], { ascii }: Theme): readonly Span[] {
  const last = spans.at(-1);
  if (last === undefined || !last.text.endsWith(" ")) return spans;
  return [
    ...spans.slice(0, -1),
    { ...last, text: last.text.replace(/ +$/, (spaces) => (ascii ? "_" : "·").repeat(spaces.length)) },
  ];
}

function clean(text: string): string {
  // A carriage return at the end of a line is part of the file's line ending.
  return safeLine(expandTabs(text.replace(/\r$/, "")));
}
