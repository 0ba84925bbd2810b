/** A hunk side by side: the old lines on the left, the new ones on the right. */
import { textWidth } from "../../../../base/text-width.js";
import type { Theme } from "../../theme.js";
import { plainTheme } from "../../themes.js";
import { type ShownLine, unifiedRow } from "./unified.js";

interface SplitView {
  readonly width: number;
  readonly theme: Theme;
  readonly digits: number;
  /** What the left column says if there is nothing on that side. */
  readonly missing?: string;
}

export function splitRows(lines: readonly ShownLine[], { width, theme, digits, missing }: SplitView): string[] {
  const half = Math.floor((width - 3) / 2);
  const bar = theme.dim("│");
  const rows: string[] = [];
  for (const [left, right] of pairs(lines)) {
    const view = { width: half, digits };
    const old = left === undefined ? [] : column(left, view, theme);
    const fresh = right === undefined ? [] : column(right, view, theme);
    for (let at = 0; at < Math.max(old.length, fresh.length); at++) {
      const { text = "", cells = 0 } = old[at] ?? (rows.length === 0 && missing ? noteOf(missing, theme) : {});
      rows.push(`${text}${" ".repeat(half - cells)} ${bar} ${fresh[at]?.text ?? ""}`.trimEnd());
    }
  }
  return rows;
}

function noteOf(text: string, theme: Theme): { readonly text: string; readonly cells: number } {
  return { text: theme.dim(text), cells: text.length };
}

function column(line: ShownLine, view: { width: number; digits: number }, theme: Theme) {
  const painted = unifiedRow(line, { ...view, theme });
  // The same rows without styles give the width.
  const bare = unifiedRow(line, { ...view, theme: plainTheme });
  return painted.map((text, at) => ({ text, cells: textWidth(bare[at] ?? "") }));
}

function pairs(lines: readonly ShownLine[]): [ShownLine | undefined, ShownLine | undefined][] {
  const out: [ShownLine | undefined, ShownLine | undefined][] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] as ShownLine;
    if (line.kind === "same") {
      out.push([{ ...line, ...(line.oldNumber !== undefined && { newNumber: line.oldNumber }) }, line]);
      at++;
      continue;
    }
    let end = at;
    while (lines[end]?.kind === "removed") end++;
    const middle = end;
    while (lines[end]?.kind === "added") end++;
    for (let row = 0; row < Math.max(middle - at, end - middle); row++) {
      out.push([at + row < middle ? lines[at + row] : undefined, middle + row < end ? lines[middle + row] : undefined]);
    }
    at = end;
  }
  return out;
}
