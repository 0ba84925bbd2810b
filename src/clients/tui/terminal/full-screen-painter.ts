/** Paints the alternate screen, which a viewer fills. */
import { fitLine } from "./fit-line.js";
import { BEGIN_UPDATE, END_UPDATE } from "./painter.js";
import { changeRow } from "./row-change.js";
import type { Frame } from "./terminal.js";

export interface PaintedScreen {
  readonly lines: readonly string[];
  readonly columns: number;
  readonly rows: number;
  readonly cursor: string;
}

export const EMPTY_SCREEN: PaintedScreen = { lines: [], columns: 0, rows: 0, cursor: "" };

export function paintFullScreen(
  previous: PaintedScreen,
  { frame, columns, rows }: { readonly frame: Frame; readonly columns: number; readonly rows: number },
): { bytes: string; painted: PaintedScreen } {
  const isResized = previous.columns !== columns || previous.rows !== rows;
  const lines = Array.from({ length: rows }, (_, row) => fitLine(frame.lines[row] ?? "", columns));
  const changes = lines.map((line, row) => {
    // After a resize the content of a row is unknown, so it is erased.
    if (isResized) return `\x1b[${row + 1};1H\x1b[K${changeRow("", line)}`;
    const before = previous.lines[row] ?? "";
    return before === line ? "" : `\x1b[${row + 1};1H${changeRow(before, line)}`;
  });
  const cursor =
    frame.cursor === undefined ? "\x1b[?25l" : `\x1b[${frame.cursor.row + 1};${frame.cursor.column + 1}H\x1b[?25h`;
  const body = changes.join("");
  const isSame = body === "" && cursor === previous.cursor;
  const bytes = isSame ? "" : `${BEGIN_UPDATE}\x1b[?7l${body}\x1b[?7h${cursor}${END_UPDATE}`;
  return { bytes, painted: { lines, columns, rows, cursor } };
}
