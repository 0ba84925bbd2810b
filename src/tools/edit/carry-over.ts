/** An edit whose quotation has only its fingerprint in common with a place of the file, carried over to that place. */
import { align, Refusal } from "./align.js";
import { readings } from "./escapes.js";
import { type Fingerprint, fingerprint } from "./fingerprint.js";
import { frameOf, replaceWhole } from "./frame.js";
import { merge, stepsBetween } from "./merge.js";
import type { Splice } from "./splice.js";

export interface Place {
  readonly text: string;
  readonly print: Fingerprint;
  /** Index into the fingerprint. */
  readonly at: number;
}

/** Throws a Refusal that says why it cannot be done without doubt. */
export function carryOver(place: Place, edit: { readonly old: string; readonly new: string }): Splice {
  const quoted = edit.old.replace(/[\u200b\u2060\ufeff]/g, "");
  const literal = fingerprint(quoted);
  const from = place.print.starts[place.at] as number;
  const to = place.print.ends[place.at + literal.text.length - 1] as number;
  let refusal: Refusal | undefined;
  for (const { old, new: fresh } of readings(quoted, edit.new, place.text.slice(from, to))) {
    const oldPrint = old === quoted ? literal : fingerprint(old);
    if (oldPrint.text !== literal.text) continue;
    try {
      const quotation = { ...place, old, oldPrint };
      const lines = align(quotation);
      const newLines = fresh.split("\n");
      if (!hasEscapedEnds(old, oldPrint) && frameOf(lines, newLines) === "file") return replaceWhole(lines, newLines);
      return merge(quotation, lines, stepsBetween(old.split("\n"), newLines));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refusal ??= error;
    }
  }
  throw refusal ?? new Refusal("it is not the same");
}

/** Escapes around the first and the last word: where the quotation starts and ends in the file depends on their reading. */
function hasEscapedEnds(old: string, print: Fingerprint): boolean {
  return old.slice(0, print.starts[0]).includes("\\") || old.slice(print.ends.at(-1)).includes("\\");
}
