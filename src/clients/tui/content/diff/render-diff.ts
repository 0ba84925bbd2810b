/** Diffs with numbers, colours and the words that changed, one column or two. */
import { safeLine } from "../../../../base/terminal-text.js";
import { expandTabs } from "../../../../base/text-width.js";
import type { DiffLine, Hunk } from "../../../sdk/shown/hunks.js";
import type { Role, Theme } from "../../theme.js";
import { type Span, span } from "../spans.js";
import type { Highlighter } from "../tools.js";
import { clipSpans } from "../wrap.js";
import { splitRows } from "./split.js";
import { type ShownLine, unifiedRow } from "./unified.js";
import { type Piece, wordMarks } from "./word-marks.js";

export interface DiffOptions {
  readonly width: number;
  readonly theme: Theme;
  readonly layout?: "unified" | "split";
  /** More lines than this are cut, with a count. */
  readonly maxLines?: number | undefined;
  /** Colours the code. In a theme without backgrounds the colours of a changed line show the change instead. */
  readonly highlighter?: Highlighter | undefined;
  /** There was no file before: the left column says so. */
  readonly isNew?: boolean | undefined;
}

/** Below this, two columns are too narrow to read. */
const LEAST_SPLIT = 80;

export function renderDiff(hunks: readonly Hunk[], options: DiffOptions): string[] {
  const { width, theme, maxLines = Number.POSITIVE_INFINITY } = options;
  const shown = hunks.map((hunk) => markedLines(hunk, options));
  const digits = digitsOf(shown.flat());
  const isSplit = options.layout === "split" && width >= LEAST_SPLIT;
  const lines: string[] = [];
  let left = 0;
  for (const [index, hunk] of shown.entries()) {
    if (lines.length >= maxLines) {
      left += hunk.length;
      continue;
    }
    if (index > 0) lines.push(clipSpans([span(" ".repeat(digits)), span(" ⋯", "dim")], { width, theme }));
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
    const words = `${"…"} ${left} more line${left === 1 ? "" : "s"}`;
    lines.push(clipSpans([span(words, "dim")], { width, theme }));
  }
  return lines;
}

/** The rows of each line, in one column. */
export function diffRows(hunk: Hunk, options: DiffOptions): readonly (readonly string[])[] {
  const { width, theme } = options;
  const lines = markedLines(hunk, options);
  const digits = digitsOf(lines);
  return lines.map((line) => unifiedRow(line, { width, theme, digits }));
}

function digitsOf(lines: readonly DiffLine[]): number {
  return String(lines.reduce((most, line) => Math.max(most, line.newNumber ?? 0, line.oldNumber ?? 0), 1)).length;
}

/** Pairs the removed lines of a change with the added ones, in order, and marks their words. */
function markedLines(hunk: Hunk, options: DiffOptions): ShownLine[] {
  const out: ShownLine[] = [];
  const painter = new LinePainter(hunk, options);
  for (let at = 0; at < hunk.lines.length; ) {
    const removed = run(hunk.lines, at, "removed");
    const added = run(hunk.lines, at + removed.length, "added");
    if (removed.length === 0 && added.length === 0) {
      const line = hunk.lines[at] as DiffLine;
      out.push({ ...line, spans: painter.same(line) });
      at++;
      continue;
    }
    const marks = removed.map((line, index) => {
      const other = added[index];
      return other === undefined ? undefined : wordMarks(clean(line.text), clean(other.text));
    });
    out.push(...removed.map((line, index) => ({ ...line, spans: painter.changed(line, marks[index]?.[0]) })));
    out.push(...added.map((line, index) => ({ ...line, spans: painter.changed(line, marks[index]?.[1]) })));
    at += removed.length + added.length;
  }
  return out;
}

/** Colouring more lines would delay the answer to a key. */
const MOST_HIGHLIGHTED = 1000;

/** Paints the lines of a hunk in their order: the code of either side continues from its line before. */
class LinePainter {
  readonly #isNew: boolean;
  /** Changed lines have a background, so their text can have the colours of the code. */
  readonly #hasBackground: boolean;
  #old: Highlighter | undefined;
  #fresh: Highlighter | undefined;

  constructor({ lines }: Hunk, { theme, highlighter, isNew = false }: DiffOptions) {
    this.#isNew = isNew;
    this.#hasBackground = theme.addedLine("x") !== "x";
    if (lines.length <= MOST_HIGHLIGHTED) this.#fresh = highlighter;
    if (lines.some(({ kind }) => kind === "removed")) this.#old = this.#fresh;
  }

  same({ text }: DiffLine): readonly Span[] {
    const shown = clean(text).trimEnd();
    this.#old = this.#old?.line(shown).next;
    return this.#code(shown) ?? [span(shown)];
  }

  changed(line: DiffLine, pieces: readonly Piece[] | undefined): readonly Span[] {
    const isAdded = line.kind === "added";
    const text = clean(line.text);
    const code = isAdded ? this.#code(text.trimEnd()) : this.#oldCode(text.trimEnd());
    if (this.#isNew && code !== undefined) return code;
    const [word, whole]: Role[] = isAdded ? ["addedWord", "addedLine"] : ["removedWord", "removedLine"];
    const plain: Role = isAdded ? "added" : "removed";
    if (!this.#hasBackground || code === undefined) {
      const spans = pieces?.map((piece) => span(piece.text, piece.isChanged ? (word as Role) : plain));
      return withTrailing(spans ?? [span(text, plain)]);
    }
    const rest = text.slice(text.trimEnd().length);
    const marked = withPieces(rest === "" ? code : [...code, span(rest)], pieces, word as Role);
    return withTrailing(marked).map((each) => ({ ...each, roles: [...each.roles, whole as Role] }));
  }

  #code(text: string): readonly Span[] | undefined {
    const line = this.#fresh?.line(text);
    this.#fresh = line?.next;
    return line?.spans;
  }

  #oldCode(text: string): readonly Span[] | undefined {
    const line = this.#old?.line(text);
    this.#old = line?.next;
    return line?.spans;
  }
}

/** Splits spans where a changed word begins or ends, and marks the changed ones. */
function withPieces(spans: readonly Span[], pieces: readonly Piece[] | undefined, role: Role): readonly Span[] {
  if (pieces === undefined) return spans;
  const out: Span[] = [];
  let at = 0;
  let from = 0;
  let [piece, ...left] = pieces;
  for (const each of spans) {
    const end = from + each.text.length;
    let start = from;
    while (start < end) {
      while (piece !== undefined && at + piece.text.length <= start) {
        at += piece.text.length;
        [piece, ...left] = left;
      }
      const until = piece === undefined ? end : Math.min(end, at + piece.text.length);
      const text = each.text.slice(start - from, until - from);
      out.push(piece?.isChanged ? { ...each, text, roles: [...each.roles, role] } : { ...each, text });
      start = until;
    }
    from = end;
  }
  return out;
}

function run(lines: readonly DiffLine[], from: number, kind: DiffLine["kind"]): DiffLine[] {
  let end = from;
  while (lines[end]?.kind === kind) end++;
  return lines.slice(from, end);
}

/** Makes spaces at the end of a changed line visible. */
function withTrailing(spans: readonly Span[]): readonly Span[] {
  const last = spans.at(-1);
  if (last === undefined || !last.text.endsWith(" ")) return spans;
  return [...spans.slice(0, -1), { ...last, text: last.text.replace(/ +$/, (spaces) => "·".repeat(spaces.length)) }];
}

function clean(text: string): string {
  // A carriage return at the end of a line is part of the file's line ending.
  return safeLine(expandTabs(text.replace(/\r$/, "")));
}
