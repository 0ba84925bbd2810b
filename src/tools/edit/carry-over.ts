/** Applies an edit at a place that has the same fingerprint as its quotation, but not the same text. */
import { align, type Line, type Quotation, Refusal } from "./align.js";
import { refuseEcho, refuseFragment } from "./echo.js";
import { backslashes, readings } from "./escapes.js";
import { fingerprint } from "./fingerprint.js";
import { frameOf, isLikeQuotation, replaceWhole } from "./frame.js";
import { merge, stepsBetween } from "./merge.js";
import type { SearchedText } from "./searched-text.js";
import type { Splice } from "./splice.js";

export interface Place {
  readonly file: SearchedText;
  /** Index into the file's fingerprint. */
  readonly at: number;
}

/** Throws a Refusal with the reason if the result is not certain. */
export function carryOver(place: Place, edit: { readonly old: string; readonly new: string }): Splice {
  const quoted = edit.old.replace(/[\u200b\u2060\ufeff]/g, "");
  const literal = fingerprint(quoted);
  const { text, print } = place.file;
  const from = text.lastIndexOf("\n", print.starts[place.at] as number) + 1;
  const to = text.indexOf("\n", print.ends[place.at + literal.text.length - 1]);
  let refusal: Refusal | undefined;
  const found = text.slice(from, to < 0 ? undefined : to);
  for (const { old, new: meant } of readings({ old: quoted, new: edit.new }, found)) {
    const oldPrint = old === quoted ? literal : fingerprint(old);
    if (oldPrint.text !== literal.text) continue;
    try {
      const quotation = { ...place, old, oldPrint };
      const lines = align(quotation);
      if (old !== quoted) refuseOtherEscapes(lines);
      const splice = carryOne(quotation, lines, { literal: edit.new, meant });
      refuseEcho(text, { start: splice.start, end: splice.end, old, new: splice.text });
      if (lines.some((line) => line.inside || line.cut)) refuseFragment(text, { ...splice, ...edit });
      return splice;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refusal ??= error;
    }
  }
  throw refusal ?? new Refusal("it is not the same");
}

/** An interpretation of the escapes must be right for every line. */
function refuseOtherEscapes(lines: readonly Line[]): void {
  const isOther = (line: Line) => !line.blank && backslashes(line.quoted) !== backslashes(line.actual?.text ?? "");
  if (lines.some(isOther)) throw new Refusal("its backslashes are not the file's");
}

function carryOne(
  quotation: Quotation,
  lines: readonly Line[],
  fresh: { literal: string; meant: string | undefined },
): Splice {
  const literal = fresh.literal.split("\n");
  if (frameOf(lines, literal) === "file") return replaceWhole(lines, literal);
  if (fresh.meant === undefined) throw new Refusal("whether the backslashes in the new text are meant is not clear");
  const meant = fresh.meant.split("\n");
  const steps = stepsBetween(quotation.old.split("\n"), meant);
  return merge(quotation, lines, { steps, ...(isLikeQuotation(lines, meant) ? { frame: "quotation" } : {}) });
}
