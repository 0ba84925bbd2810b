import type { Frame } from "../terminal/terminal.js";
import type { Theme } from "../theme.js";

export interface Rows {
  readonly lines: readonly string[];
  readonly cursor?: { readonly row: number; readonly column: number };
}

export interface FrameParts {
  /** The unfinished end of the answer and the running calls. */
  readonly live: readonly string[];
  readonly working: string | undefined;
  readonly queue: readonly string[];
  /** The open list of the model. */
  readonly todos?: readonly string[];
  /** A question or a picker. */
  readonly dialog: Rows | undefined;
  readonly dialogHasFocus: boolean;
  readonly composer: Rows;
  readonly status: string;
}

export interface FrameSize {
  readonly columns: number;
  readonly rows: number;
  readonly theme: Theme;
  /** Without lines that a screen reader would spell out. */
  readonly linear?: boolean;
}

/** From this height on a blank line stands above the open list. */
const ROOMY = 24;

export function composeFrame(parts: FrameParts, { columns, rows, theme, linear }: FrameSize): Frame {
  const { dialog, composer, queue } = parts;
  const rule = linear ? [] : [theme.dim("─".repeat(columns))];
  const footer = parts.status;
  const fixed = composer.lines.length + 1 + 2 * rule.length + (parts.working === undefined ? 0 : 1);
  // A question needs the room more.
  const pinned = dialog === undefined ? (parts.todos ?? []) : [];
  const todos = pinned.length > 0 && rows >= ROOMY ? ["", ...pinned] : pinned;
  const middle = [...queue, ...todos, ...(dialog?.lines ?? [])];
  const room = Math.max(0, rows - 1 - fixed - middle.length);
  const live = parts.live.slice(Math.max(0, parts.live.length - room));
  const above = [...live, ...(parts.working === undefined ? [] : [parts.working]), ...queue, ...todos];
  const dialogTop = above.length;
  const lines = [...above, ...(dialog?.lines ?? []), ...rule];
  const composerTop = lines.length;
  lines.push(...composer.lines, ...rule, footer);
  const owner = parts.dialogHasFocus && dialog !== undefined ? { rows: dialog, top: dialogTop } : undefined;
  const focus = owner ?? { rows: composer, top: composerTop };
  const { cursor } = focus.rows;
  return { lines, ...(cursor && { cursor: { row: focus.top + cursor.row, column: cursor.column } }) };
}
