/** The lines between the title and the status: the step, or the help. */

import { wrapText } from "../../../base/text-width.js";
import type { ReplayState, Size } from "./replay-state.js";
import { type LaidLine, layout } from "./step-layout.js";

const HELP = [
  "space → j      next step",
  "← k b          step before",
  "n              next turn",
  "p              the turn's beginning, the turn before",
  "g 12 Enter     to turn 12; so does 12 Enter",
  "Home End       first and last step",
  "/text Enter    search forward; / Enter again for the next",
  "d              details: thinking, arguments, whole results,",
  "               timings, event ids",
  "PgUp PgDn ↑ ↓  scroll in a long step",
  "a              play at the recorded speed, pauses cut short",
  "?              this help",
  "q Esc Ctrl-C   leave",
].join("\n");

/** Rows that remain for the body; on a terminal of one or two rows there are none. */
export function bodyRows({ rows }: Size): number {
  return Math.max(0, rows - 1 - statusRows({ rows }));
}

export function statusRows({ rows }: Pick<Size, "rows">): number {
  return rows >= 8 ? 2 : 1;
}

export function bodyLines(state: ReplayState, size: Size): readonly LaidLine[] {
  if (state.help) return plain(HELP, size);
  if (state.content !== undefined) return layout(state.content, { columns: size.columns, details: state.details });
  const { done, problem } = state.indexed;
  if (state.steps.length > 0 || !done) return plain("Reading …", size);
  return plain(problem ?? "This session has no events yet.", size);
}

function plain(text: string, { columns }: Size): LaidLine[] {
  return wrapText(text, columns).map((line) => ({ text: line, source: line }));
}
