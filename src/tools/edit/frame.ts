/**
 * Decides whether the new text has the same mistakes as a quotation that differs from the file.
 *
 * If lines of the new text equal the file but not the quotation, the model wrote the new text from the file: it replaces the
 * quotation unchanged. If lines equal the quotation but not the file, the new text must be merged.
 */
import { diffLines } from "../../base/diff.js";
import { endMarks, extentOf, type Line, leadingSpace, Refusal } from "./align.js";
import { BLANK_LINES, quotedIndent, withLead } from "./merge.js";
import { ALIKE, wordLikeness } from "./nearest.js";
import { type Shape, shapeOf } from "./reindent.js";
import type { Splice } from "./splice.js";

export type Frame = "file" | "quotation";

/** Undefined without evidence. Throws a Refusal if the evidence contradicts itself. */
export function frameOf(lines: readonly Line[], fresh: readonly string[]): Frame | undefined {
  const { actual, quoted } = sidesOf(lines);
  const added = fresh.filter((line) => line.trim() !== "");
  if (spans(quoted, added)) return "quotation";
  if (spans(actual, added)) return "file";
  const file = kept(actual, added);
  const quotation = kept(quoted, added);
  if (file.different === 0 && quotation.different === 0) return undefined;
  const isFile = file.different > 0 && !file.leaves(quoted);
  const isQuotation = quotation.different > 0 && !quotation.leaves(actual);
  if (isFile && (!isQuotation || file.count > quotation.count)) return "file";
  if (isQuotation && (!isFile || quotation.count > file.count)) return "quotation";
  throw new Refusal("the new text agrees with the file in some lines and with the quotation in others");
}

/** Tells whether the new text begins and ends with lines of the quotation that differ in the file: then all of it follows the quotation. */
export function isLikeQuotation(lines: readonly Line[], fresh: readonly string[]): boolean {
  const added = fresh.filter((line) => line.trim() !== "");
  return spans(sidesOf(lines).quoted, added);
}

function sidesOf(lines: readonly Line[]): { actual: readonly Marked[]; quoted: readonly Marked[] } {
  const solid = lines.filter((line) => !line.blank);
  const sides = solid.map((line) => ({ quoted: line.quoted, actual: line.actual?.text ?? "" }));
  return {
    actual: sides.flatMap((side) => marked(side.actual, side.quoted)),
    quoted: sides.flatMap((side) => marked(side.quoted, side.actual)),
  };
}

function spans(base: readonly Marked[], added: readonly string[]): boolean {
  const [first, last] = [base[0], base.at(-1)];
  return (
    first?.isDifferent === true && last?.isDifferent === true && first.line === added[0] && last.line === added.at(-1)
  );
}

interface Marked {
  readonly line: string;
  /** The other side differs here. */
  readonly isDifferent: boolean;
}

function marked(text: string, other: string): readonly Marked[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.map((line) => ({ line, isDifferent: text !== other }));
}

/** The lines that `added` shares with `base`. */
function kept(base: readonly Marked[], added: readonly string[]) {
  const same = diffLines(
    base.map(({ line }) => line),
    added,
  ).filter((part) => part.kind === "same");
  const shared = same.flatMap((part) => base.slice(part.oldStart, part.oldStart + part.oldCount));
  const placed = new Set(same.flatMap((part) => Array.from({ length: part.newCount }, (_, i) => part.newStart + i)));
  return {
    count: shared.length,
    different: shared.filter(({ isDifferent }) => isDifferent).length,
    /** Tells whether a line without a match here has one on the other side. */
    leaves(other: readonly Marked[]): boolean {
      const foreign = new Set(other.filter(({ isDifferent }) => isDifferent).map(({ line }) => line));
      return added.some((line, i) => !placed.has(i) && foreign.has(line));
    },
  };
}

/** Replaces the quotation with the new text, line by line. */
export function replaceWhole(lines: readonly Line[], fresh: readonly string[]): Splice {
  const { start, end } = extentOf(lines);
  const shape = indentationOf(lines);
  if (shape === undefined) throw new Refusal("its lines are indented in another way");
  const rest = lines.find((line) => line.rest !== undefined)?.rest;
  if (rest !== undefined && endMarks(fresh.at(-1) ?? "") !== endMarks(rest.text)) {
    throw new Refusal(`its last line stops before ${endMarks(rest.text)}`);
  }
  const head = missingBlanks(lines);
  const tail = missingBlanks(lines.toReversed());
  // The first may be the end of the line before, the last is the start of the line after.
  const isEdge = (i: number) => (i === 0 && fresh[0]?.trim() === "") || i === lines.length - 1;
  if (lines.some((line, i) => line.outer && !isEdge(i))) throw new Refusal(BLANK_LINES);
  const body = withoutBlanks(withoutBlanks(fresh, head).toReversed(), tail).toReversed();
  const out = [...body];
  const final = lines.at(-1);
  if (!final?.blank && out.length > 1 && out.at(-1) === "") {
    throw new Refusal("the new text ends with a line break, and it does not");
  }
  if (final?.blank && final.actual !== undefined) {
    if (out.at(-1)?.trim() !== "") throw new Refusal("it ends with a line break, and the new text does not");
    out[out.length - 1] = final.actual.text;
  }
  if (out[0] !== undefined) out[0] = firstLine(out[0], { lines, shape });
  return { start, end: end + (rest?.text.length ?? 0), text: out.join("\n") };
}

function indentationOf(lines: readonly Line[]): Shape | undefined {
  const solid = lines.filter((line) => !line.blank && line.inside !== true);
  const pairs = solid.map(({ quoted, actual }) => ({
    quoted: quotedIndent(quoted),
    actual: leadingSpace(actual?.text ?? ""),
  }));
  return shapeOf(pairs, lines[0]?.blank ? "before" : "line");
}

/** The quotation, and perhaps the new text with it, may begin after the indentation. */
function firstLine(added: string, { lines, shape }: { lines: readonly Line[]; shape: Shape | undefined }): string {
  const [first] = lines;
  if (first?.inside) return withLead(added, first);
  const isOld = lines.some((line) => line.actual?.text === added);
  if (shape !== "cut" || leadingSpace(added) !== "" || isOld) return added;
  if (wordLikeness(added, first?.quoted ?? "") <= ALIKE) throw new Refusal("its first line is indented in another way");
  return leadingSpace(first?.actual?.text ?? "") + added;
}

/** Blank lines at the start of the quotation that the file lacks: how many, and of how many. */
function missingBlanks(lines: readonly Line[]): { missing: number; of: number } {
  const of = lines.findIndex((line) => !line.blank);
  return { missing: lines.slice(0, of).filter((line) => line.actual === undefined).length, of };
}

function withoutBlanks(fresh: readonly string[], { missing, of }: { missing: number; of: number }): readonly string[] {
  if (missing === 0) return fresh;
  const solid = fresh.findIndex((line) => line.trim() !== "");
  const own = solid < 0 ? fresh.length : solid;
  if (own === of) return fresh.slice(missing);
  if (own === of - missing) return fresh;
  throw new Refusal(BLANK_LINES);
}
