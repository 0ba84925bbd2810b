/**
 * Computes the bytes that change the live part of the screen from its current to its new content. It is pure.
 *
 * 1. It never erases above the first live row. Above it, it only writes the end of the last printed row again, where its line goes on.
 * 2. Printed lines scroll up by plain line breaks, so that they enter the terminal's own scrollback, once.
 * 3. Printed rows of one line are joined by the terminal's own wrap: it keeps them as one line when it copies or resizes.
 * 4. All movement is relative: the position of the live part on the screen does not matter.
 */
import { fitLine, type PrintedRow, printedRows } from "./fit-line.js";
import { type NewSize, type Reflow, rowsAboveCursor } from "./reflow.js";
import { changeRow, continueRow, fillsRow, isSurelyOneRow, writeJoint, writeRow } from "./row-change.js";
import type { Frame } from "./terminal.js";

/** What the terminal shows of the live part. */
export interface Painted {
  /** At least one row. */
  readonly lines: readonly string[];
  /** The position of the cursor: at the caret, or on the first row if it is hidden. */
  readonly row: number;
  readonly column: number;
  readonly isCursorShown: boolean;
  /** The size of the screen that it was painted for; 0 before the first frame. */
  readonly columns: number;
  readonly rows: number;
  /** The row above the live part, if it was printed at this size. */
  readonly above?: string | undefined;
}

export interface PaintRequest {
  readonly frame: Frame;
  readonly printed: readonly string[];
  readonly columns: number;
  readonly rows: number;
  readonly reflow: Reflow;
}

/** The cursor is at the start of an empty row. */
export const NOTHING_PAINTED: Painted = {
  lines: [""],
  row: 0,
  column: 0,
  isCursorShown: true,
  columns: 0,
  rows: 0,
};

export const BEGIN_UPDATE = "\x1b[?2026h";
export const END_UPDATE = "\x1b[?2026l";
const ERASE_BELOW = "\x1b[J";
const WRAP_OFF = "\x1b[?7l";
const WRAP_ON = "\x1b[?7h";
const SHOW_CURSOR = "\x1b[?25h";
const HIDE_CURSOR = "\x1b[?25l";

export function paintFrame(previous: Painted, request: PaintRequest): { bytes: string; painted: Painted } {
  const printed = printedRows(request.printed);
  const isResized = previous.columns !== request.columns || previous.rows !== request.rows;
  const above = isResized ? undefined : previous.above;
  const fitted = fitFrame(request);
  const painted = { ...fitted, above: printed.length === 0 ? above : lastRow(printed, fitted) };
  const canChange = !isResized && canPrintInPlace(printed, painted);
  const joinable = { ...previous, above };
  const body = canChange
    ? changeRows(joinable, [...printed, ...painted.lines.map(ownRow)])
    : paintAll(joinable, { toFirst: toFirstRow(previous, request), printed, live: painted.lines });
  // From here on the first live row is below the printed lines.
  const cursor = { row: painted.row + (canChange ? printed.length : 0), column: painted.column };
  const bytes = body.text + placeCursor(body, { previous, painted, cursor });
  const leavesRow = body.rowsWritten > 1 || body.row !== previous.row || cursor.row !== previous.row;
  return { bytes: bytes !== "" && leavesRow ? BEGIN_UPDATE + bytes + END_UPDATE : bytes, painted };
}

/** Erases the live part and leaves the cursor on its first row. */
export function eraseLive(previous: Painted, request: NewSize): string {
  return toFirstRow(previous, request) + ERASE_BELOW + (previous.isCursorShown ? "" : SHOW_CURSOR);
}

/** Moves below the live part and leaves it unchanged. */
export function leaveLive(previous: Painted): string {
  return `${move(previous.row, previous.lines.length - 1)}\r\n${previous.isCursorShown ? "" : SHOW_CURSOR}`;
}

function fitFrame({ frame, columns, rows }: PaintRequest): Painted {
  const lost = Math.max(0, frame.lines.length - rows);
  const lines = frame.lines.slice(lost).map((line) => fitLine(line, columns));
  if (lines.length === 0) lines.push("");
  const row = (frame.cursor?.row ?? -1) - lost;
  const size = { columns, rows };
  if (frame.cursor === undefined || row < 0 || row >= lines.length)
    return { lines, row: 0, column: 0, isCursorShown: false, ...size };
  const column = Math.max(0, Math.min(frame.cursor.column, columns - 1));
  return { lines, row, column, isCursorShown: true, ...size };
}

interface Body {
  readonly text: string;
  /** The final row of the cursor, counted from the first written row. */
  readonly row: number;
  readonly rowsWritten: number;
}

function ownRow(text: string): PrintedRow {
  return { text, continues: false };
}

/** The last printed row, if it is certainly the one above the live part. */
function lastRow(printed: readonly PrintedRow[], { lines, columns, rows }: Painted): string | undefined {
  const text = printed.at(-1)?.text;
  return text !== undefined && lines.length < rows && isSurelyOneRow(text, columns) ? text : undefined;
}

interface Everything {
  readonly toFirst: string;
  readonly printed: readonly PrintedRow[];
  readonly live: readonly string[];
}

function paintAll({ above, columns }: Painted, { toFirst, printed, live }: Everything): Body {
  const continues = printed[0]?.continues === true && above !== undefined && fillsRow(above, columns);
  const joint = continues ? move(1, 0) + writeJoint(above) : "";
  const rows = printed.map(({ text }, at) => writeRow(text) + (printed[at + 1]?.continues ? "" : "\r\n")).join("");
  const text = toFirst + ERASE_BELOW + joint + rows + withoutWrap(live.map(writeRow).join("\r\n"));
  return { text, row: live.length - 1, rowsWritten: printed.length + live.length };
}

/** Whether printed lines are rows of the screen like live ones: each is one row in every terminal, and none scrolls off the screen. */
function canPrintInPlace(printed: readonly PrintedRow[], { lines, columns, rows }: Painted): boolean {
  if (printed.length + lines.length > rows) return false;
  return printed.every(({ text }, at) => {
    return isSurelyOneRow(text, columns) && (!printed[at + 1]?.continues || fillsRow(text, columns));
  });
}

/** Changes the rows. Unchanged rows at the end are moved, not written again. */
function changeRows(previous: Painted, rows: readonly PrintedRow[]): Body {
  const { text: inserted, row: first, before } = insertRows(previous, rows);
  let [text, row, rowsWritten] = [inserted, first, inserted === "" ? 0 : 1];
  for (const [index, { text: line, continues }] of rows.entries()) {
    const old = before[index];
    const whole = continues ? (index === 0 ? previous.above : rows[index - 1]?.text) : undefined;
    if (whole !== undefined && fillsRow(whole, previous.columns)) {
      // The wrap makes a new row, too.
      text += move(row, index - 1) + writeJoint(whole) + continueRow(old, line, previous.columns);
    } else if (old === line) continue;
    // A line break makes a new row, and scrolls at the bottom of the screen.
    else if (old === undefined) text += withoutWrap(`${move(row, index - 1)}\r\n${writeRow(line)}`);
    else text += withoutWrap(move(row, index) + changeRow(old, line));
    row = index;
    rowsWritten++;
  }
  if (before.length > rows.length) {
    text += `${move(row, rows.length)}\r${ERASE_BELOW}`;
    row = rows.length;
    rowsWritten++;
  }
  return { text: text.replaceAll(WRAP_ON + WRAP_OFF, ""), row, rowsWritten };
}

/** Writing fewer bytes again is as fast as moving them. */
const LEAST_MOVED_BYTES = 24;

interface Inserted {
  readonly text: string;
  readonly row: number;
  /** The rows after that. */
  readonly before: readonly string[];
}

function insertRows({ lines, row }: Painted, rows: readonly PrintedRow[]): Inserted {
  const count = rows.length - lines.length;
  let at = lines.length;
  while (at > 0 && lines[at - 1] === rows[at - 1 + count]?.text) at--;
  const moved = lines.slice(at);
  if (count <= 0 || moved.join("").length < LEAST_MOVED_BYTES) return { text: "", row, before: lines };
  // The line breaks make room below, by scrolling if necessary. Otherwise the last rows would leave the screen.
  const room = move(row, lines.length - 1) + "\n".repeat(count);
  const text = `${room}${move(rows.length - 1, at)}\r\x1b[${count}L`;
  return { text, row: at, before: [...lines.slice(0, at), ...Array<string>(count).fill(""), ...moved] };
}

/** Terminals disagree about the width of some characters. Without wrapping, a row that they measure as too long stays one row. */
function withoutWrap(text: string): string {
  return /[^\x00-\x7f]/.test(text) ? WRAP_OFF + text + WRAP_ON : text;
}

interface Placing {
  readonly previous: Painted;
  readonly painted: Painted;
  readonly cursor: { readonly row: number; readonly column: number };
}

function placeCursor(body: Body, { previous, painted, cursor }: Placing): string {
  const isThere = body.text === "" && previous.row === cursor.row && previous.column === cursor.column;
  const isSame = previous.isCursorShown === painted.isCursorShown;
  const visibility = isSame ? "" : painted.isCursorShown ? SHOW_CURSOR : HIDE_CURSOR;
  if (isThere) return visibility;
  const column = cursor.column === 0 ? "\r" : `\x1b[${cursor.column + 1}G`;
  return move(body.row, cursor.row) + column + visibility;
}

function toFirstRow(previous: Painted, request: NewSize): string {
  const up = previous.columns === 0 ? 0 : rowsAboveCursor(previous, request);
  return `${move(up, 0)}\r`;
}

/** Only between rows that are on the screen. */
function move(from: number, to: number): string {
  if (from === to) return "";
  const count = Math.abs(to - from);
  return `\x1b[${count === 1 ? "" : count}${to < from ? "A" : "B"}`;
}
