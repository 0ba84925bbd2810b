/**
 * Applies an edit whose quotation differs slightly from the file: a three-way merge by lines.
 *
 * 1. Lines that the edit keeps stay byte for byte as in the file.
 * 2. New lines are used as given, except their indentation.
 * 3. If the quotation differs from the file in a way that affects new lines, and those do not settle it, the edit is refused. It
 *    never guesses.
 */
import { diffLines } from "../../base/diff.js";
import { endMarks, extentOf, type Line, leadingSpace, type Quotation, Refusal } from "./align.js";
import { backslashes } from "./escapes.js";
import { type NewLine, reindent } from "./reindent.js";
import type { Splice } from "./splice.js";

/** Describes what an edit does with the lines it quotes. */
export type Step =
  /** `text` is the edit's form of a kept blank line, whose space may differ. */
  | { readonly kind: "keep"; readonly line: number; readonly text?: string }
  | { readonly kind: "drop"; readonly line: number }
  /** `partner` is the quoted line that it replaces, if one line replaces one. */
  | { readonly kind: "add"; readonly text: string; readonly partner?: number };

type Addition = Extract<Step, { kind: "add" }>;

export function stepsBetween(old: readonly string[], fresh: readonly string[]): readonly Step[] {
  const steps: Step[] = [];
  const bare = (line: string) => (line.trim() === "" ? "" : line);
  const isLast = (line: number) => line === old.length - 1;
  for (const part of diffLines(old.map(bare), fresh.map(bare))) {
    for (let i = 0; i < part.oldCount; i++) {
      const line = part.oldStart + i;
      const text = fresh[part.newStart + i] as string;
      if (part.kind === "changed") steps.push({ kind: "drop", line });
      else steps.push({ kind: "keep", line, ...(text === old[line] || isLast(line) ? {} : { text }) });
    }
    if (part.kind === "same") continue;
    for (let i = 0; i < part.newCount; i++) {
      const text = fresh[part.newStart + i] as string;
      const paired = part.oldCount === part.newCount;
      steps.push({ kind: "add", text, ...(paired ? { partner: part.oldStart + i } : {}) });
    }
  }
  return steps;
}

export interface Edit {
  readonly steps: readonly Step[];
  /** The new lines are known to be indented like the quotation. */
  readonly frame?: "quotation";
}

/** Throws a Refusal that says why. */
export function merge(quotation: Quotation, lines: readonly Line[], edit: Edit): Splice {
  const { steps } = edit;
  checkBlankLines(steps, lines);
  const added = placeNewLines(quotation, lines, edit);
  const out: string[] = [];
  for (const step of steps) {
    if (step.kind === "add") {
      out.push(added.shift() ?? "");
    } else if (step.kind === "keep") {
      const { actual, gap, rest } = lines[step.line] as Line;
      if (gap !== undefined) out.push(...gap);
      if (actual !== undefined) out.push(step.text ?? actual.text + (rest?.text ?? ""));
    }
  }
  const { start, end } = extentOf(lines);
  const rest = restOf(lines, steps);
  refuseJoin(quotation, lines, { steps, end });
  return { start, end: end + rest, text: out.join("\n") };
}

/**
 * The length of the punctuation after the quotation that the edit replaces. It is replaced if its line is kept or the new text has the
 * same punctuation; it stays if one line with the same end replaces one line.
 */
function restOf(lines: readonly Line[], steps: readonly Step[]): number {
  const index = lines.findIndex((line) => line.rest !== undefined);
  const rest = lines[index]?.rest;
  if (rest === undefined) return 0;
  const isKept = steps.some((step) => step.kind === "keep" && step.line === index);
  const last = steps.at(-1);
  if (isKept || (last?.kind === "add" && endMarks(last.text) === endMarks(rest.text))) return rest.text.length;
  const marks = endMarks(rest.text);
  const quoted = (lines[index] as Line).quoted;
  if (steps.length === 2 && last?.kind === "add" && endsAlike([last.text, quoted], marks)) return 0;
  throw new Refusal(`its last line stops before ${marks}`);
}

function endsAlike([a, b]: readonly [string, string], marks: string): boolean {
  return a.trimEnd().at(-1) === b.trimEnd().at(-1) && a.split(marks).length === b.split(marks).length;
}

/** A line break at the end of only one text would join the next line, or leave a blank one. */
function refuseJoin(
  { file }: Quotation,
  lines: readonly Line[],
  { steps, end }: { steps: readonly Step[]; end: number },
): void {
  const final = lines.at(-1);
  const isClosed = final?.blank && final.actual !== undefined;
  const losesBreak = isClosed && steps.at(-1)?.kind !== "keep" && steps.some((step) => step.kind !== "drop");
  if (losesBreak && end < file.text.length) throw new Refusal("it ends with a line break, and the new text does not");
  const last = steps.at(-1);
  const gainsBreak = !final?.blank && steps.length > 1 && last?.kind === "add" && last.text === "";
  if (gainsBreak && final?.cut === undefined) throw new Refusal("the new text ends with a line break, and it does not");
}

function placeNewLines(quotation: Quotation, lines: readonly Line[], { steps, frame }: Edit): string[] {
  const adds = steps.filter((step) => step.kind === "add");
  const dropped = new Set(steps.flatMap((step) => (step.kind === "drop" ? [step.line] : [])));
  for (const [index, line] of lines.entries()) {
    if (line.blank) continue;
    checkLine(quotation, line, { index, adds, dropped: dropped.has(index) });
    if (!dropped.has(index)) refuseTwin(lines, line);
  }
  const [start] = lines;
  const opensInside = start?.inside === true && dropped.has(0) && adds.length > 0;
  const inner = opensInside ? [withLead(adds[0]?.text ?? "", start)] : [];
  const rest = adds.slice(inner.length);
  const solid = lines.flatMap((line, i) => (line.blank || line.inside ? [] : [i]));
  const pairs = solid.map((i) => {
    const { quoted, actual } = lines[i] as Line;
    const line = actual?.text ?? "";
    return { quoted: quotedIndent(quoted), actual: leadingSpace(line), line, kept: !dropped.has(i) };
  });
  const opening = steps.find((step) => step.kind !== "drop");
  const fresh = rest
    .filter((step) => step.text.trim() !== "")
    .map((step): NewLine => {
      const partner = step.partner === undefined ? -1 : solid.indexOf(step.partner);
      return {
        line: step.text,
        indent: leadingSpace(step.text),
        ...(partner < 0 ? {} : { partner }),
        ...(step === opening ? { opens: true } : {}),
      };
    });
  const indents = reindent(pairs, fresh, { startsWithLine: solid[0] === 0, frame });
  if (indents === undefined)
    throw new Refusal("it is indented otherwise, and how the new lines are to be is not clear");
  const queue = [...indents];
  const placed = rest.map((step) => (step.text.trim() === "" ? step.text : queue.shift() + step.text.trimStart()));
  return [...inner, ...placed];
}

/** A new text that starts inside a line: the space before it stays the file's, unless the edit changes it. */
export function withLead(added: string, line: Line): string {
  const lead = leadingSpace(added);
  if (lead !== leadingSpace(line.quoted)) return added;
  return leadingSpace(line.actual?.text ?? "") + added.slice(lead.length);
}

/** The indentation with plain spaces, as in a file. */
export function quotedIndent(line: string): string {
  return leadingSpace(line).replace(/[^\S\t]/g, " ");
}

/* ---- what makes an edit doubtful ---- */

export const BLANK_LINES = "it has other blank lines than the file beside the change";

/** Blank lines that only one side has may stay where nothing changes, or go with the lines around them. */
function checkBlankLines(steps: readonly Step[], lines: readonly Line[]): void {
  let run = { adds: false, drops: false, dropsSolid: false, doubt: false, innerGap: false };
  const refuseDoubt = () => {
    if ((run.doubt && (run.adds || run.drops)) || (run.innerGap && run.adds)) throw new Refusal(BLANK_LINES);
  };
  for (const step of steps) {
    if (step.kind === "add") {
      run.adds = true;
      continue;
    }
    const line = lines[step.line] as Line;
    const isExtra = line.blank && line.actual === undefined;
    if (step.kind === "drop") {
      if (line.gap !== undefined) run[run.dropsSolid ? "innerGap" : "doubt"] = true;
      run.doubt ||= isExtra && line.outer === true;
      run.drops = true;
      run.dropsSolid ||= !line.blank;
    } else if (line.blank) {
      // The first may be the end of the line before, the last is the start of the line after.
      const isEdge = step.line === lines.length - 1 || (step.line === 0 && lines[1]?.blank === false);
      run.doubt ||= isExtra && !isEdge;
    } else {
      run.doubt ||= line.gap !== undefined;
      refuseDoubt();
      run = { adds: false, drops: false, dropsSolid: false, doubt: false, innerGap: false };
    }
  }
  refuseDoubt();
}

interface LineCheck {
  readonly index: number;
  readonly dropped: boolean;
  readonly adds: readonly Addition[];
}

/** New lines may have the same mistake as the quotation. */
function checkLine(quotation: Quotation, line: Line, { index, dropped, adds }: LineCheck): void {
  const actual = line.actual?.text ?? "";
  const isEscapedAlike = backslashes(line.quoted) === backslashes(actual);
  if (!isEscapedAlike && (dropped || adds.some((step) => step.text.includes("\\")))) {
    throw new Refusal("its backslashes are not the file's");
  }
  for (const quote of swappedQuotes(quotation, line)) {
    if (adds.some((step) => step.text.includes(quote))) throw new Refusal("it has other quotes than the file");
  }
  const marks = endMarks(actual);
  if (!dropped || endMarks(line.quoted) === marks) return;
  const replacement = adds.find((step) => step.partner === index);
  if (replacement === undefined || endMarks(replacement.text) !== marks) {
    throw new Refusal("it ends a line with other punctuation than the file");
  }
}

/** If two lines differ in the file but not in the quotation, it is unclear which one the edit keeps. */
function refuseTwin(lines: readonly Line[], line: Line): void {
  const isTwin = (other: Line) => other.quoted === line.quoted && other.actual?.text !== line.actual?.text;
  if (lines.some(isTwin)) throw new Refusal("two lines that differ in the file are the same in it");
}

/** ASCII quotes in the quotation where the file has another kind of ASCII quotes. */
function swappedQuotes({ file: { text, print }, at, old, oldPrint }: Quotation, line: Line): Set<string> {
  const swapped = new Set<string>();
  for (let i = line.first; i <= line.last; i++) {
    if (oldPrint.text[i] !== "'") continue;
    const quoted = old[(oldPrint.ends[i] as number) - 1] as string;
    const actual = text[(print.ends[at + i] as number) - 1] as string;
    if (quoted !== actual && `"'\``.includes(quoted) && `"'\``.includes(actual)) swapped.add(quoted);
  }
  return swapped;
}
