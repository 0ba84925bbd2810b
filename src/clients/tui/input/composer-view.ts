/** The draft as rows of the screen, with the place of the hardware cursor: input methods open their window there. */
import { groupDigits } from "../../../base/group-digits.js";
import { truncateText } from "../../../base/text-width.js";
import type { Theme } from "../theme.js";
import type { Cell, Row } from "./draft-layout.js";
import type { PromptEditor } from "./prompt-editor.js";

export interface ComposerView {
  readonly lines: readonly string[];
  readonly cursor: { readonly row: number; readonly column: number };
}

export interface DraftViewOptions {
  readonly width: number;
  readonly maxRows: number;
  readonly theme: Theme;
  /** Shown while the draft is empty. */
  readonly placeholder: string;
  /** The first row of the last view. */
  readonly top: number;
}

const INDENT = 2;

/** The columns that text may use: one stays free for the cursor after the last character. */
function draftWidth(width: number): number {
  return Math.max(1, width - INDENT - 1);
}

export function viewDraft(editor: PromptEditor, options: DraftViewOptions): ComposerView & { readonly top: number } {
  const { width, theme } = options;
  const { rows, current } = editor.rows(draftWidth(width));
  const { top, shown, count } = windowOf(rows.length, current, options);
  const visible = rows.slice(top, top + shown);
  const lines = visible.map((row, index) => {
    const mark = top + index === 0 ? theme.accent(">") : " ";
    return `${mark} ${styleCells(editor.cells(row), theme)}`.trimEnd();
  });
  if (editor.isEmpty) lines[0] = emptyLine(options);
  if (count) lines.push(theme.dim(truncateText(countText(top, shown, rows.length), width)));
  const column = INDENT + columnOf(editor, rows[current]);
  return { lines, cursor: { row: current - top, column: Math.min(column, Math.max(0, width - 1)) }, top };
}

function emptyLine({ width, theme, placeholder }: DraftViewOptions): string {
  const hint = truncateText(placeholder, draftWidth(width));
  return hint === "" ? theme.accent(">") : `${theme.accent(">")} ${theme.dim(hint)}`;
}

function windowOf(
  total: number,
  current: number,
  { maxRows, top }: DraftViewOptions,
): { readonly top: number; readonly shown: number; readonly count: boolean } {
  const room = Math.max(1, maxRows);
  const count = total > room && room >= 3;
  const shown = Math.min(total, count ? room - 1 : room);
  const followed = Math.max(current - shown + 1, Math.min(top, current));
  return { top: Math.max(0, Math.min(followed, total - shown)), shown, count };
}

function countText(top: number, shown: number, total: number): string {
  return `  rows ${groupDigits(top + 1)} to ${groupDigits(top + shown)} of ${groupDigits(total)}`;
}

function styleCells(cells: readonly Cell[], theme: Theme): string {
  let out = "";
  let plain = "";
  for (const cell of cells) {
    if (!cell.token) {
      plain += cell.text;
      continue;
    }
    if (plain !== "") out += theme.text(plain);
    plain = "";
    out += theme.accent(cell.text);
  }
  // Spaces at the end are removed, because a selection would copy them.
  const end = plain.trimEnd();
  return end === "" ? out : out + theme.text(end);
}

function columnOf(editor: PromptEditor, row: Row | undefined): number {
  if (row === undefined) return 0;
  const { column } = editor.caret;
  return editor.cells(row).reduce((sum, cell) => (cell.index < column ? sum + cell.width : sum), 0);
}
