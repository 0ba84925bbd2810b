/** The quotes and list items around a line, and their prefixes. */
import { textWidth } from "../../../base/text-width.js";
import type { Theme } from "../theme.js";
import type { ListMarker } from "./markdown-lines.js";
import type { Prefix } from "./wrap.js";

export type Container =
  | { readonly kind: "quote"; readonly id: number }
  | {
      readonly kind: "item";
      readonly id: number;
      /** Columns before its mark, and before its text, in the source. */
      readonly lead: number;
      readonly indent: number;
      readonly sign: string;
      readonly number: number | undefined;
      readonly task: "open" | "done" | undefined;
      /** Its mark is on the screen. */
      isPrinted: boolean;
    };

/** Continues the count if a number does not grow: many models write `1.` before every item. */
export function nextNumber(marker: ListMarker, sibling: Container | undefined): number | undefined {
  if (marker.number === undefined || sibling?.kind !== "item" || sibling.sign !== marker.sign) return marker.number;
  const before = sibling.number ?? 0;
  return marker.number > before ? marker.number : before + 1;
}

/** If less space is left for text, deeper nesting is not indented further. */
const LEAST_TEXT = 16;

export function prefixOf(
  containers: readonly Container[],
  { width, theme }: { readonly width: number; readonly theme: Theme },
): { readonly first: Prefix; readonly rest: Prefix } {
  let first = "";
  let rest = "";
  let used = 0;
  for (const container of containers) {
    const mark = container.kind === "quote" ? quoteMark(theme) : itemMark(container, theme);
    const cells = textWidth(mark);
    if (used + cells + (used === 0 ? 2 : LEAST_TEXT) > width) continue;
    used += cells;
    if (container.kind === "quote") {
      first += theme.quote(mark);
      rest += theme.quote(mark);
    } else {
      first += container.isPrinted ? " ".repeat(cells) : theme.accent(mark);
      rest += " ".repeat(cells);
    }
  }
  return { first: { text: first, width: used }, rest: { text: rest, width: used } };
}

function quoteMark(theme: Theme): string {
  return theme.ascii ? "> " : "│ ";
}

function itemMark({ number, sign, task }: Container & { kind: "item" }, { ascii }: Theme): string {
  if (task !== undefined) return ascii ? (task === "done" ? "[x] " : "[ ] ") : task === "done" ? "☑ " : "☐ ";
  return number === undefined ? "- " : `${number}${sign} `;
}
