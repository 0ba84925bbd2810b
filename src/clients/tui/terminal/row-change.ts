/** The bytes that turn one row of the screen into another. The cursor is somewhere on that row, and no style is on. */
import { certainWidth } from "./certain-width.js";
import { endStyles, withoutStyles } from "./fit-line.js";

const ERASE_TO_END = "\x1b[K";
/** A shorter common start is not worth the cursor movement. */
const LEAST_COMMON_COLUMNS = 6;

export function writeRow(line: string): string {
  return line + endStyles(line);
}

export function changeRow(before: string, after: string): string {
  // If terminals may disagree about a width, the rest of the row is always erased.
  // Erase first: after a row that fills the width, the cursor is still on the last cell, and erasing would remove it.
  const erase = before.length > after.length || !isPlain(before) || !isPlain(after) ? ERASE_TO_END : "";
  const start = commonStart(before, after);
  if (start.column < LEAST_COMMON_COLUMNS) return `\r${erase}${writeRow(after)}`;
  const rest = after.slice(start.index);
  const end = start.style === "" ? endStyles(rest) : "\x1b[m";
  return `\x1b[${start.column + 1}G${erase}${start.style}${rest}${end}`;
}

/** Whether every terminal fills a row of `columns` cells with the line. */
export function fillsRow(line: string, columns: number): boolean {
  const text = withoutStyles(line);
  return text.length <= columns && cellsOf(text) === columns;
}

/** Writes the last cells of a full row again, with the blanks that no one sees: the next character wraps. The cursor is on that row. */
export function writeJoint(line: string): string {
  const start = commonStart(line.trimEnd(), line);
  if (start.index === 0) return `\r${writeRow(line)}`;
  const rest = line.slice(start.index);
  return `\x1b[${start.column + 1}G${start.style}${rest}${start.style === "" ? endStyles(rest) : "\x1b[m"}`;
}

/** Writes a row behind such a joint; only its first character if it is there already. */
export function continueRow(before: string | undefined, after: string, columns: number): string {
  if (before === after.trimEnd()) return firstCharacter(after) ?? writeRow(after);
  return writeRow(after) + (fillsRow(after, columns) ? "" : ERASE_TO_END);
}

/** With its style; undefined if it is a link. */
function firstCharacter(line: string): string | undefined {
  const [found, style] = /^((?:\x1b\[[0-9;:]*m)*)[^\x1b]/u.exec(line) ?? [];
  return found === undefined ? undefined : found + (style === "" ? "" : "\x1b[m");
}

/** Whether every terminal shows the line in one row of `columns` cells. */
export function isSurelyOneRow(line: string, columns: number): boolean {
  const text = withoutStyles(line);
  return text.length <= columns && cellsOf(text) <= columns;
}

/** Infinite where terminals may disagree. */
function cellsOf(text: string): number {
  let used = 0;
  for (let index = 0; index < text.length; index++) {
    const width = certainWidth(text.charCodeAt(index));
    if (width === 0) return Number.POSITIVE_INFINITY;
    used += width;
  }
  return used;
}

function isPlain(line: string): boolean {
  return /^[\x20-\x7e]*$/.test(line);
}

interface Start {
  readonly index: number;
  readonly column: number;
  /** The active colours there. */
  readonly style: string;
}

const STYLE = /\x1b\[[0-9;:]*m/y;
const RESET = /^\x1b\[0*m$/;

/**
 * Where the rows begin to differ, minus one character: a combining mark changes the character before it. The common part contains only
 * characters with the same width in every terminal, so that the column is right.
 */
function commonStart(before: string, after: string): Start {
  let [index, column, style] = [0, 0, ""];
  let last: Start = { index, column, style };
  while (index < after.length) {
    const width = certainWidth(after.charCodeAt(index));
    if (width === 0) {
      STYLE.lastIndex = index;
      const found = STYLE.exec(after)?.[0];
      if (found === undefined || !before.startsWith(found, index)) break;
      style = RESET.test(found) ? "" : style + found;
      index += found.length;
      continue;
    }
    if (before[index] !== after[index]) break;
    last = { index, column, style };
    index++;
    column += width;
  }
  return last;
}
