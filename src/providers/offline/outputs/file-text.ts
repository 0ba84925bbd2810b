/** Reads what `read` answers: numbered lines, and notes in brackets about what is not there. */
import type { NumberedLine } from "../outline-rules.js";

export interface FileText {
  readonly lines: readonly NumberedLine[];
  /** Lines of the whole file, where it is known. */
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
  const lines: NumberedLine[] = [];
  let linesCut = false;
  let rest: { readonly to?: number } | undefined;
  for (const row of text.split("\n")) {
    const match = /^ *(\d+)\t(.*)$/s.exec(row);
    if (match !== null) lines.push({ line: Number(match[1]), text: match[2] ?? "" });
    else if (/^\[[\d,.]+ lines? cut at/.test(row) || /^\[… /.test(row)) linesCut = true;
    else if (/^\[Lines \d+-\d+ of /.test(row)) rest = totalOf(row);
  }
  const first = lines[0];
  const last = lines.at(-1);
  if (first === undefined || last === undefined) return { lines: [], whole: false, linesCut, notText: text.trim() };
  const totalLines = rest === undefined ? last.line : rest.to;
  return {
    lines,
    whole: rest === undefined && first.line === 1 && !linesCut && last.line === lines.length,
    linesCut,
    ...(totalLines !== undefined && { totalLines }),
  };
}

function totalOf(note: string): { readonly to?: number } {
  const total = /^\[Lines \d+-\d+ of ([\d,.]+)\. /.exec(note)?.[1];
  return total === undefined ? {} : { to: Number(total.replace(/[^\d]/g, "")) };
}

/** The text without its last line end, which numbered lines do not tell. */
export function joinedText({ lines }: FileText): string {
  return lines.map(({ text }) => text).join("\n");
}
