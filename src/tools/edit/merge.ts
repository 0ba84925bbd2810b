/**
 * An edit whose quotation is not quite what the file says, carried over to the file: a merge of three texts by lines.
 *
 * 1. Lines that the edit keeps stay as the file has them, to the byte.
 * 2. New lines are taken as given, but for their indentation.
 * 3. Where the quotation strays from the file in something that new lines depend on, and they do not settle it, the edit
 *    is refused. There is no guess.
 */
import { diffLines } from "../../base/diff.js";
import { backslashes } from "./escapes.js";
import type { Fingerprint } from "./fingerprint.js";
import { type NewLine, reindent } from "./reindent.js";
import type { Splice } from "./splice.js";

/** What an edit does with the lines it quotes. */
export type Step =
  | { readonly kind: "keep"; readonly line: number }
  | { readonly kind: "drop"; readonly line: number }
  /** `partner` is the quoted line whose place it takes, when one line replaces one. */
  | { readonly kind: "add"; readonly text: string; readonly partner?: number };

export interface Quotation {
  /** The file, `\n` only. */
  readonly text: string;
  readonly print: Fingerprint;
  /** Where the quotation's fingerprint was found in the file's. */
  readonly at: number;
  readonly old: string;
  readonly oldPrint: Fingerprint;
  readonly steps: readonly Step[];
}

export class Refusal extends Error {}

export function stepsBetween(old: readonly string[], fresh: readonly string[]): readonly Step[] {
  const steps: Step[] = [];
  for (const part of diffLines(old, fresh)) {
    for (let i = 0; i < part.oldCount; i++) {
      steps.push({ kind: part.kind === "same" ? "keep" : "drop", line: part.oldStart + i });
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

/** Throws a Refusal that says why. */
export function merge(quotation: Quotation): Splice {
  const lines = alignLines(quotation);
  const added = placeNewLines(quotation, lines);
  const out: string[] = [];
  for (const step of quotation.steps) {
    if (step.kind === "add") {
      out.push(added.shift() ?? "");
      continue;
    }
    const { actual, gap } = lines[step.line] as Line;
    if (step.kind === "drop") continue;
    if (gap !== undefined) out.push(...gap);
    if (actual !== undefined) out.push(actual.text);
  }
  const places = lines.flatMap((line) => line.actual ?? []);
  const start = (places[0] as Stretch).start;
  const end = (places.at(-1) as Stretch).end;
  refuseJoin(quotation, lines, end);
  return { start, end, text: out.join("\n") };
}

/** To the letter, a quotation that ends with a line break and a new text that does not would pull up the next line. */
function refuseJoin({ text, steps }: Quotation, lines: readonly Line[], end: number): void {
  const final = lines.length - 1;
  const isClosed = lines[final]?.blank && lines[final]?.actual !== undefined;
  const losesBreak = isClosed && steps.at(-1)?.kind !== "keep" && steps.some((step) => step.kind === "add");
  if (losesBreak && end < text.length) throw new Refusal("it ends with a line break, and the new text does not");
}

interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A quoted line and the file's. */
interface Line {
  readonly quoted: string;
  readonly blank: boolean;
  /** Absent when the file lacks this blank line. */
  readonly actual?: Stretch;
  /** Blank lines before it that only the file has. */
  readonly gap?: readonly string[];
  /** A blank line that the file lacks at the very start or end of the quotation, where it has other text. */
  readonly outer?: true;
  /** Starts within a line of the file, so that its leading space is not indentation. */
  readonly inside?: true;
  /** The line's first and last character in the fingerprints. */
  readonly first: number;
  readonly last: number;
}

/* ---- the lines of the quotation and those of the file ---- */

function alignLines(quotation: Quotation): readonly Line[] {
  const lines = quotedLines(quotation.old, quotation.oldPrint);
  const solid = lines.flatMap((line, i) => (line.blank ? [] : [i]));
  const firstSolid = solid[0];
  const lastSolid = solid.at(-1);
  if (firstSolid === undefined || lastSolid === undefined) throw new Refusal("it quotes nothing but blank lines");
  for (const i of solid) lines[i] = { ...(lines[i] as Line), ...actualLine(quotation, lines, i) };
  for (let i = 1; i < solid.length; i++) alignGap(quotation.text, lines, { from: solid[i - 1] as number, to: solid[i] as number });
  alignStart(quotation.text, lines, firstSolid);
  alignEnd(quotation.text, lines, lastSolid);
  return lines;
}

function quotedLines(old: string, print: Fingerprint): Line[] {
  let start = 0;
  let at = 0;
  return old.split("\n").map((quoted) => {
    const end = start + quoted.length;
    while (at < print.text.length && (print.starts[at] as number) < start) at++;
    const first = at;
    while (at < print.text.length && (print.starts[at] as number) < end) at++;
    start = end + 1;
    return { quoted, blank: at === first, first, last: at - 1 };
  });
}

function actualLine(quotation: Quotation, lines: readonly Line[], index: number): Pick<Line, "actual" | "inside"> {
  const { text, print, at, old, oldPrint } = quotation;
  const line = lines[index] as Line;
  const from = print.starts[at + line.first] as number;
  const to = print.ends[at + line.last] as number;
  const lineStart = text.lastIndexOf("\n", from - 1) + 1;
  const lineEnd = endOfLine(text, to);
  const inside = from > lineStart && text.slice(lineStart, from).trim() !== "";
  const isCutEnd = index === lines.length - 1;
  if (inside && index > 0) throw new Refusal("it breaks a line where the file does not");
  if (!isCutEnd && !/^[\s,;]*$/.test(text.slice(to, lineEnd))) throw new Refusal("it ends a line where the file does not");
  const start = inside ? from - spaceBefore(text, from, line.quoted) : lineStart;
  const tail = old.slice(oldPrint.ends[line.last], old.length);
  const cut = to + sharedTail(text.slice(to, lineEnd), tail);
  const end = isCutEnd && !absorbsRest(quotation.steps, index, text.slice(cut, lineEnd)) ? cut : lineEnd;
  return { actual: stretch(text, start, end), ...(inside ? { inside: true } : {}) };
}

/** Space before a place inside a line belongs to the quotation if that starts with space too. */
function spaceBefore(text: string, at: number, quoted: string): number {
  if (!/^\s/.test(quoted)) return 0;
  let start = at;
  while (start > 0 && /[^\S\n]/.test(text[start - 1] as string)) start--;
  return at - start;
}

/** How much of what follows in the file belongs to the end of the quotation: its own marks, and space at a line's end. */
function sharedTail(following: string, tail: string): number {
  const marks = tail.replace(/[^,;]/g, "");
  let length = 0;
  for (const mark of marks) {
    const space = (/^\s*/.exec(following.slice(length)) as RegExpExecArray)[0].length;
    if (following[length + space] !== mark) break;
    length += space + 1;
  }
  const space = (/^\s*/.exec(following.slice(length)) as RegExpExecArray)[0].length;
  return /\s$/.test(tail) || length + space === following.length ? length + space : length;
}

/** The quotation ends before the punctuation that ends the file's line: that must be kept, or brought by the new text. */
function absorbsRest(steps: readonly Step[], line: number, rest: string): boolean {
  const marks = rest.replace(/\s/g, "");
  if (!/^[,;]*$/.test(marks)) return false;
  if (marks === "" || steps.some((step) => step.kind === "keep" && step.line === line)) return true;
  const last = steps.at(-1);
  if (last?.kind !== "add" || endMarks(last.text) !== marks) throw new Refusal(`its last line stops before ${marks}`);
  return true;
}

/** Blank lines between two lines that are quoted one after the other. */
function alignGap(text: string, lines: Line[], { from, to }: { from: number; to: number }): void {
  const before = lines[from]?.actual as Stretch;
  const after = lines[to]?.actual as Stretch;
  if (before.end >= after.start) throw new Refusal("it breaks a line where the file does not");
  const blanks = text.slice(before.end + 1, after.start).split("\n").slice(0, -1);
  let start = before.end + 1;
  for (let i = from + 1; i < to && blanks.length > 0; i++) {
    const blank = blanks.shift() as string;
    lines[i] = { ...(lines[i] as Line), actual: stretch(text, start, start + blank.length) };
    start += blank.length + 1;
  }
  if (blanks.length > 0) lines[to] = { ...(lines[to] as Line), gap: blanks };
}

/** Blank lines that the quotation starts with: as many as the file has. */
function alignStart(text: string, lines: Line[], first: number): void {
  if (first > 0 && lines[first]?.inside) throw new Refusal("it starts a line where the file does not");
  let start = (lines[first]?.actual as Stretch).start;
  for (let i = first - 1; i >= 0 && start > 0; i--) {
    const previous = start < 2 ? 0 : text.lastIndexOf("\n", start - 2) + 1;
    if (text.slice(previous, start).trim() !== "") {
      for (let j = i; j >= 0; j--) lines[j] = { ...(lines[j] as Line), outer: true };
      return;
    }
    lines[i] = { ...(lines[i] as Line), actual: stretch(text, previous, start - 1) };
    start = previous;
  }
}

/** The same at the end. The last element is what follows the last newline: the start of a line, or the space it starts with. */
function alignEnd(text: string, lines: Line[], last: number): void {
  let end = (lines[last]?.actual as Stretch).end;
  for (let i = last + 1; i < lines.length && end < text.length; i++) {
    const isFinal = i === lines.length - 1;
    const space = lines[i]?.quoted === "" ? 0 : indentOf(text.slice(end + 1, endOfLine(text, end + 1))).length;
    const lineEnd = isFinal ? end + 1 + space : endOfLine(text, end + 1);
    if (text.slice(end + 1, lineEnd).trim() !== "" || (!isFinal && lineEnd === text.length)) {
      lines[i] = { ...(lines[i] as Line), outer: true };
      continue;
    }
    lines[i] = { ...(lines[i] as Line), actual: stretch(text, end + 1, lineEnd) };
    end = lineEnd;
  }
}

/* ---- the new lines ---- */

function placeNewLines(quotation: Quotation, lines: readonly Line[]): string[] {
  const { steps } = quotation;
  const adds = steps.filter((step) => step.kind === "add");
  const dropped = new Set(steps.flatMap((step) => (step.kind === "drop" ? [step.line] : [])));
  checkGaps(steps, lines);
  lines.forEach((_, index) => {
    checkLine(quotation, lines, { index, adds, dropped: dropped.has(index) });
  });
  const opensInside = lines[0]?.inside === true && dropped.has(0);
  const inner = opensInside && adds.length > 0 ? withLead(adds[0]?.text ?? "", lines[0] as Line) : undefined;
  const rest = inner === undefined ? adds : adds.slice(1);
  const solid = lines.flatMap((line, i) => (line.blank || line.inside ? [] : [i]));
  const pairs = solid.map((i) => {
    const { quoted, actual } = lines[i] as Line;
    const line = actual?.text ?? "";
    return { quoted: quotedIndent(quoted), actual: indentOf(line), line, kept: !dropped.has(i) };
  });
  const fresh = rest.filter((step) => step.text.trim() !== "").map((step): NewLine => {
    const partner = step.partner === undefined ? -1 : solid.indexOf(step.partner);
    return { line: step.text, indent: indentOf(step.text), ...(partner < 0 ? {} : { partner }) };
  });
  const indents = reindent(pairs, fresh, { startsWithLine: solid[0] === 0 });
  if (indents === undefined) throw new Refusal("its indentation is not the file's, and how the new lines are to be indented is not clear");
  const queue = [...indents];
  const placed = rest.map((step) => (step.text.trim() === "" ? step.text : queue.shift() + step.text.trimStart()));
  return inner === undefined ? placed : [inner, ...placed];
}

/** A new text that starts inside a line: the space before it stays the file's, unless the edit changes it. */
function withLead(added: string, line: Line): string {
  const lead = indentOf(added);
  if (lead !== indentOf(line.quoted)) return added;
  return indentOf(line.actual?.text ?? "") + added.slice(lead.length);
}

/** Blank lines that only one side has may stay where nothing changes, or go with the lines around them. */
function checkGaps(steps: readonly Step[], lines: readonly Line[]): void {
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
      run.doubt ||= isExtra && step.line > 0 && step.line < lines.length - 1;
    } else {
      run.doubt ||= line.gap !== undefined;
      refuseDoubt();
      run = { adds: false, drops: false, dropsSolid: false, doubt: false, innerGap: false };
    }
  }
  refuseDoubt();
}

const BLANK_LINES = "it has other blank lines than the file beside the change";

interface LineCheck {
  readonly index: number;
  readonly dropped: boolean;
  readonly adds: readonly { readonly text: string; readonly partner?: number }[];
}

/** What was quoted wrongly may be just as wrong in the new lines. */
function checkLine(quotation: Quotation, lines: readonly Line[], { index, dropped, adds }: LineCheck): void {
  const line = lines[index] as Line;
  if (line.blank || line.actual === undefined) return;
  const actual = line.actual.text;
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

/** ASCII quotes in the quotation where the file has another kind of ASCII quotes. */
function swappedQuotes({ text, print, at, old, oldPrint }: Quotation, line: Line): Set<string> {
  const swapped = new Set<string>();
  for (let i = line.first; i <= line.last; i++) {
    if (oldPrint.text[i] !== "'") continue;
    const quoted = old[(oldPrint.ends[i] as number) - 1] as string;
    const actual = text[(print.ends[at + i] as number) - 1] as string;
    if (quoted !== actual && `"'\``.includes(quoted) && `"'\``.includes(actual)) swapped.add(quoted);
  }
  return swapped;
}

/* ---- small readings of text ---- */

function stretch(text: string, start: number, end: number): Stretch {
  return { start, end, text: text.slice(start, end) };
}

function endOfLine(text: string, from: number): number {
  const at = text.indexOf("\n", from);
  return at < 0 ? text.length : at;
}

function indentOf(line: string): string {
  return (/^[^\S\n]*/.exec(line) as RegExpExecArray)[0];
}

/** As the file would have it: with plain spaces, and nothing invisible in between. */
function quotedIndent(line: string): string {
  return (/^[\s\u200b\u2060\ufeff]*/.exec(line) as RegExpExecArray)[0]
    .replace(/[\u200b\u2060\ufeff]/g, "")
    .replace(/[^\S\t]/g, " ");
}

function endMarks(line: string): string {
  let start = line.length;
  while (start > 0 && /[,;\s]/.test(line[start - 1] as string)) start--;
  return line.slice(start).replace(/\s/g, "");
}
