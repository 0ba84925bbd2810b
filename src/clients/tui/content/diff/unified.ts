/** One line of a diff: its number, its sign and its text. */

import type { DiffLine } from "../../../sdk/shown/hunks.js";
import type { Theme } from "../../theme.js";
import type { Span } from "../spans.js";
import { type Prefix, wrapSpans } from "../wrap.js";

/** A line and the spans of its text. */
export interface ShownLine extends DiffLine {
  readonly spans: readonly Span[];
}

/** Its other rows are aligned with the text. Without room for the number, only the text is shown. */
export function unifiedRow(
  line: ShownLine,
  { width, theme, digits }: { readonly width: number; readonly theme: Theme; readonly digits: number },
): string[] {
  const { kind } = line;
  const number = String((kind === "removed" ? line.oldNumber : line.newNumber) ?? "").padStart(digits);
  const sign = kind === "added" ? "+" : kind === "removed" ? "-" : " ";
  const back = kind === "added" ? theme.addedLine : kind === "removed" ? theme.removedLine : theme.text;
  const style = kind === "same" ? theme.text : theme[kind];
  const cells = digits + 3;
  const first: Prefix = { text: `${theme.dim(number)} ${back(`${style(sign)} `)}`, width: cells };
  const rest: Prefix = { text: " ".repeat(cells), width: cells };
  return wrapSpans(line.spans, { width, theme, first, rest, at: "anywhere" }).map((row) => row.trimEnd());
}
