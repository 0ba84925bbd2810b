/** Parses the result of `read`: numbered lines, and notes in brackets about missing parts. */
import { toNumber } from "./search-output.js";

export interface NumberedLine {
  readonly line: number;
  readonly text: string;
}

export interface FileText {
  readonly lines: readonly NumberedLine[];
  /** The number of lines of the whole file, if known. */
  readonly totalLines?: number;
  /** All of the file is here, every line in full. */
  readonly whole: boolean;
  /** Some lines are longer than shown. */
  readonly linesCut: boolean;
  /** Not text: an image, or something else that has no lines. */
  readonly notText?: string;
}

export function parseFileText(text: string): FileText {
  if (/ is empty\.$/.test(text) && !text.includes("\t"))
    return { lines: [], totalLines: 0, whole: true, linesCut: false };
  const rows = text.split("\n");
  const lines = rows.flatMap((row) => {
    const match = /^ *(\d+)\t(.*)$/s.exec(row);
    return match === null ? [] : [{ line: Number(match[1]), text: match[2] ?? "" }];
  });
  const linesCut = rows.some((row) => /^\[(?:[\d,.]+ lines? cut at|… )/.test(row));
  const [first, last] = [lines[0], lines.at(-1)];
  if (first === undefined || last === undefined) return { lines, whole: false, linesCut, notText: text.trim() };
  const rest = rows.find((row) => /^\[Lines \d+-\d+ of /.test(row));
  const total = /^\[Lines \d+-\d+ of ([\d,.]+)\. /.exec(rest ?? "")?.[1];
  const totalLines = rest === undefined ? last.line : toNumber(total);
  return {
    lines,
    whole: rest === undefined && first.line === 1 && !linesCut && last.line === lines.length,
    linesCut,
    ...(totalLines !== undefined && { totalLines }),
  };
}

/** The text without its last line end, which numbered lines do not show. */
export function joinedText({ lines }: FileText): string {
  return lines.map(({ text }) => text).join("\n");
}
