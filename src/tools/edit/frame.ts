/**
 * A quotation strayed from the file: does the new text stray with it?
 *
 * Lines that are the same in the new text as in the file, but not as in the quotation, show that it was written with the
 * file in view: then it takes the quotation's place as it is. Lines that are the same as in the quotation, but not as in
 * the file, show that it has to be merged.
 */
import { diffLines } from "../../base/diff.js";
import { endMarks, extentOf, type Line, leadingSpace, Refusal } from "./align.js";
import { quotedIndent, withLead } from "./merge.js";
import { shapeOf } from "./reindent.js";
import type { Splice } from "./splice.js";

export type Frame = "file" | "quotation";

/** Undefined when nothing tells. Throws a Refusal when it tells both. */
export function frameOf(lines: readonly Line[], fresh: readonly string[]): Frame | undefined {
  const solid = lines.filter((line) => !line.blank && line.actual !== undefined);
  const actual = solid.flatMap((line) => linesOf(line.actual?.text ?? ""));
  const quoted = solid.flatMap((line) => linesOf(line.quoted));
  const added = fresh.filter((line) => line.trim() !== "");
  const file = kept(actual, added, new Set(quoted));
  const quotation = kept(quoted, added, new Set(actual));
  if (file.telling === 0 && quotation.telling === 0) return undefined;
  // A line of the other frame is explained when this frame has a place for it.
  const isFile = file.telling > 0 && !file.unexplained(quoted);
  const isQuotation = quotation.telling > 0 && !quotation.unexplained(actual);
  if (isFile && (!isQuotation || file.count > quotation.count)) return "file";
  if (isQuotation && (!isFile || quotation.count > file.count)) return "quotation";
  throw new Refusal("the new text agrees with the file in some lines and with the quotation in others");
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "");
}

/** What `added` has in common with `base`; `others` are the lines of the other side. */
function kept(base: readonly string[], added: readonly string[], others: ReadonlySet<string>) {
  const same = diffLines(base, added).filter((part) => part.kind === "same");
  const lines = same.flatMap((part) => base.slice(part.oldStart, part.oldStart + part.oldCount));
  const placed = new Set(same.flatMap((part) => Array.from({ length: part.newCount }, (_, i) => part.newStart + i)));
  return {
    count: lines.length,
    telling: lines.filter((line) => !others.has(line)).length,
    unexplained: (other: readonly string[]) => {
      const foreign = new Set(other.filter((line) => !base.includes(line)));
      return added.some((line, i) => !placed.has(i) && foreign.has(line));
    },
  };
}

/** The new text in the place of the quotation, line by line as it is. */
export function replaceWhole(lines: readonly Line[], fresh: readonly string[]): Splice {
  const { start, end } = extentOf(lines);
  refuseOddIndentation(lines);
  const rest = lines.find((line) => line.rest !== undefined)?.rest;
  if (rest !== undefined && endMarks(fresh.at(-1) ?? "") !== endMarks(rest.text)) {
    throw new Refusal(`its last line stops before ${endMarks(rest.text)}`);
  }
  const head = missingBlanks(lines);
  const tail = missingBlanks(lines.toReversed());
  const body = withoutBlanks(withoutBlanks(fresh, head).toReversed(), tail).toReversed();
  const out = [...body];
  const final = lines.at(-1);
  if (final?.blank && final.actual !== undefined) {
    if (out.at(-1)?.trim() !== "") throw new Refusal("it ends with a line break, and the new text does not");
    out[out.length - 1] = final.actual.text;
  }
  const isOld = lines.some((line) => line.actual?.text === out[0]);
  if (out[0] !== undefined && !isOld) out[0] = firstLine(out[0], lines[0] as Line);
  return { start, end: end + (rest?.text.length ?? 0), text: out.join("\n") };
}

function refuseOddIndentation(lines: readonly Line[]): void {
  const solid = lines.filter((line) => !line.blank && line.inside !== true);
  const pairs = solid.map(({ quoted, actual }) => ({
    quoted: quotedIndent(quoted),
    actual: leadingSpace(actual?.text ?? ""),
  }));
  const shape = shapeOf(pairs, lines[0]?.blank ? "before" : "line");
  if (shape === undefined) throw new Refusal("its lines are indented in another way");
}

/** The quotation, and perhaps the new text with it, may begin after the indentation. */
function firstLine(added: string, line: Line): string {
  if (line.inside) return withLead(added, line);
  const actual = leadingSpace(line.actual?.text ?? "");
  const isCut = !line.blank && quotedIndent(line.quoted) === "" && actual !== "";
  return isCut && added.trim() !== "" && leadingSpace(added) === "" ? actual + added : added;
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
  throw new Refusal("it has other blank lines than the file beside the change");
}
