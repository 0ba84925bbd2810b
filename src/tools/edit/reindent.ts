/**
 * Indents new lines when the indentation of the quotation differs from the file.
 *
 * 1. Either the new lines follow the quotation, and are shifted with it, or they follow the file, and stay. The lines themselves
 *    must show which; otherwise there is no result.
 */
import { ALIKE, wordLikeness } from "./nearest.js";

export interface QuotedLine {
  readonly quoted: string;
  readonly actual: string;
  /** The line as the file has it. */
  readonly line: string;
  readonly kept: boolean;
}

export interface NewLine {
  readonly line: string;
  readonly indent: string;
  /** Index of the quoted line that it replaces, if one line replaces one. */
  readonly partner?: number;
  /** It is the first line of the new text. */
  readonly opens?: true;
}

/**
 * Indentations for the new lines, in order, or undefined when they cannot be known. All lines given are not blank.
 * `startsWithLine`: the quotation begins with the first of them, perhaps after its indentation.
 */
export function reindent(
  quoted: readonly QuotedLine[],
  added: readonly NewLine[],
  { startsWithLine, frame: known }: { startsWithLine: boolean; frame: "quotation" | undefined },
): readonly string[] | undefined {
  const asGiven = added.map((line) => line.indent);
  const shape = shapeOf(quoted, startsWithLine ? "line" : "before");
  if (shape === "same") return asGiven;
  if (shape === "cut") return afterCutStart(quoted, added);
  if (shape === "flat") return lineByLine(quoted, added);
  if (shape === undefined) return undefined;
  const moved = asGiven.map(shape);
  if (moved.every((indent, i) => indent === asGiven[i])) return asGiven;
  const frame = known ?? frameOf(quoted, added);
  if (frame === "file") return asGiven;
  return frame === "quotation" && moved.every((indent) => indent !== undefined) ? moved : undefined;
}

type Move = (indent: string) => string | undefined;
export type Shape = "same" | "cut" | "flat" | Move;

/**
 * Tells how the indentation of the quotation differs from the file's: not at all, by a cut start, by a complete loss, or by one shift that
 * explains every line. Undefined if there is no rule: then the edit probably means other lines.
 */
export function shapeOf(
  quoted: readonly Pick<QuotedLine, "quoted" | "actual">[],
  start: "line" | "before",
): Shape | undefined {
  const isSame = (line: Pick<QuotedLine, "quoted" | "actual">) => line.quoted === line.actual;
  if (quoted.every(isSame)) return "same";
  if (start === "line" && quoted[0]?.quoted === "" && quoted.slice(1).every(isSame)) return "cut";
  return moveOf(quoted) ?? (quoted.every((line) => line.quoted === quoted[0]?.quoted) ? "flat" : undefined);
}

/** The quotation began after the indentation of its first line; the other lines are exact. */
function afterCutStart(quoted: readonly QuotedLine[], added: readonly NewLine[]): readonly string[] | undefined {
  const [first, ...rest] = quoted as readonly [QuotedLine, ...QuotedLine[]];
  const opening = added[0]?.opens ? added[0] : undefined;
  const others = (opening === undefined ? added : added.slice(1)).map((line) => line.indent);
  const head = opening === undefined ? [] : [first.actual];
  if (opening?.indent === first.actual) return [...head, ...others];
  if (opening !== undefined && (opening.indent !== "" || !follows(opening, quoted))) return undefined;
  if (others.length === 0 || rest.some((line) => line.kept)) return [...head, ...others];
  if (others.every((indent) => indent.startsWith(first.actual))) return [...head, ...others];
  const block = shortest(rest.map((line) => line.actual));
  const movesWhole = shortest(others) === "" && (block === undefined || block === first.actual);
  return movesWhole ? [...head, ...others.map((indent) => first.actual + indent)] : undefined;
}

/** Tells whether a new first line replaces the old one, so that it was cut at the same point. */
function follows(opening: NewLine, quoted: readonly QuotedLine[]): boolean {
  const isOnly = quoted.length === 1;
  return isOnly || opening.partner === 0 || wordLikeness(opening.line, quoted[0]?.line ?? "") > ALIKE;
}

/** The quotation lost the shape of the block: only a line that replaces exactly one line has a known place. */
function lineByLine(quoted: readonly QuotedLine[], added: readonly NewLine[]): readonly string[] | undefined {
  const out: string[] = [];
  for (const [i, line] of added.entries()) {
    const partner = line.partner === undefined ? undefined : quoted[line.partner];
    if (partner === undefined || line.indent !== partner.quoted) return undefined;
    if (wordLikeness(line.line, partner.line) <= ALIKE) return undefined;
    const neighbours = [added[i - 1], added[i + 1]].filter((other) => isNext(line, other));
    if (neighbours.some((other) => quoted[other?.partner ?? -1]?.actual !== partner.actual)) return undefined;
    out.push(partner.actual);
  }
  return out;
}

function isNext(line: NewLine, other: NewLine | undefined): boolean {
  return line.partner !== undefined && other?.partner !== undefined && Math.abs(line.partner - other.partner) === 1;
}

/** All evidence must agree. */
function frameOf(quoted: readonly QuotedLine[], added: readonly NewLine[]): "file" | "quotation" | undefined {
  const signs = new Set<"file" | "quotation">();
  const keepsMoved = quoted.some((line) => line.kept && line.quoted !== line.actual);
  if (keepsMoved) signs.add("quotation");
  const dropped = quoted.filter((line) => !line.kept);
  for (const line of added) {
    const origin = mostAlike(line.line, dropped);
    if (origin === undefined || origin.quoted === origin.actual) continue;
    if (line.indent === origin.quoted) signs.add("quotation");
    if (line.indent === origin.actual) signs.add("file");
  }
  if (!keepsMoved) {
    const base = shortest(added.map((line) => line.indent));
    const asQuoted = quoted.map((line) => line.quoted);
    const asActual = quoted.map((line) => line.actual);
    const [lowQuoted, lowActual] = [shortest(asQuoted), shortest(asActual)];
    // If both frames have lines at this depth, it proves nothing, but it can contradict other evidence.
    const proves = signs.size > 0 || !(asQuoted.includes(base ?? "") && asActual.includes(base ?? ""));
    if (base === lowQuoted && base !== lowActual && proves) signs.add("quotation");
    if (base === lowActual && base !== lowQuoted && proves) signs.add("file");
  }
  return signs.size === 1 ? [...signs][0] : undefined;
}

/** The line that a new line was probably made from. */
function mostAlike(line: string, others: readonly QuotedLine[]): QuotedLine | undefined {
  let best: QuotedLine | undefined;
  let most = ALIKE;
  for (const other of others) {
    const likeness = wordLikeness(line, other.line);
    if (likeness > most) [best, most] = [other, likeness];
  }
  return best;
}

/** The one change of indentation that explains all quoted lines, if there is one. */
function moveOf(quoted: readonly Pick<QuotedLine, "quoted" | "actual">[]): Move | undefined {
  const map = new Map(quoted.map((line) => [line.quoted, line.actual]));
  if (quoted.some((line) => map.get(line.quoted) !== line.actual)) return undefined;
  const pairs = [...map].sort((a, b) => a[0].length - b[0].length);
  const [from, to] = pairs[0] as [string, string];
  if (to.endsWith(from)) {
    const more = to.slice(0, to.length - from.length);
    const fits = pairs.every(([a, b]) => b === more + a);
    if (fits) return (indent) => map.get(indent) ?? (isMixed(more, indent) ? undefined : more + indent);
  }
  if (from.endsWith(to)) {
    const less = from.slice(0, from.length - to.length);
    const fits = pairs.every(([a, b]) => a === less + b);
    if (fits) return (indent) => (indent.startsWith(less) ? indent.slice(less.length) : undefined);
  }
  return rescaling(from === "" ? pairs : [["", ""], ...pairs]);
}

/** Converts the unit of indentation, for example spaces to tabs, by the number of levels of a line. */
function rescaling(pairs: readonly (readonly [string, string])[]): Move | undefined {
  if (pairs[0]?.[1] !== "") return undefined;
  const steps = pairs.slice(1).map(([from, to], i) => {
    const [lowerFrom, lowerTo] = pairs[i] as readonly [string, string];
    const isDeeper = from.startsWith(lowerFrom) && to.startsWith(lowerTo);
    return isDeeper ? { from: from.slice(lowerFrom.length), to: to.slice(lowerTo.length) } : { from: "", to: "" };
  });
  const unit = steps.reduce((best, step) => (step.from.length < best.from.length ? step : best));
  if (unit.from === "" || unit.to === "") return undefined;
  const isEven = steps.every(({ from, to }) => {
    const levels = from.length / unit.from.length;
    return from === unit.from.repeat(levels) && to === unit.to.repeat(levels);
  });
  if (!isEven) return undefined;
  return (indent) => {
    const levels = indent.length / unit.from.length;
    return indent === unit.from.repeat(levels) ? unit.to.repeat(levels) : undefined;
  };
}

function isMixed(a: string, b: string): boolean {
  return (a.includes("\t") && b.includes(" ")) || (a.includes(" ") && b.includes("\t"));
}

function shortest(indents: readonly string[]): string | undefined {
  return indents.reduce<string | undefined>(
    (best, indent) => (best === undefined || indent.length < best.length ? indent : best),
    undefined,
  );
}
