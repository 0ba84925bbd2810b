/**
 * A change as shown to the user for the decision.
 *
 * 1. Nothing is omitted: long lines are wrapped, not cut, and every changed line is there.
 * 2. Hidden characters are spelled out, and nothing acts on the terminal.
 */
import { diffText } from "../../base/diff.js";
import { nameOf } from "./content.js";
import { isBinary } from "./read-content.js";
import type { PendingItem } from "./review.js";
import { count, type Look, paint, shown, shownText } from "./shown.js";

export interface ContentChange {
  /** Holds what the user should know besides the changed lines. */
  readonly notes: readonly { readonly text: string; readonly warns: boolean }[];
  /** A unified diff, safe to show; absent when the content cannot be shown. */
  readonly diff?: string;
  /** The whole content, safe to show; absent when the diff contains it. */
  readonly text?: string;
}

/** Above this the diff would cut a line. */
const MAX_LINE = 500;

export interface DiffOptions extends Look {
  /** Stop after so many lines and say how many more there are. */
  readonly maxLines?: number;
}

export function renderDiff(pending: PendingItem, options: DiffOptions): string {
  const { item, state } = pending;
  const title = `${shown(nameOf(item))} (${state}, ${formatSize(item.size)}, sha256 ${item.sha256.slice(0, 16)}…)`;
  const { notes, diff } = contentChange(pending);
  const lines = [
    paint(options, "bold", title),
    ...notes.map(({ text, warns }) => (warns ? paint(options, "red", text) : text)),
  ];
  if (diff === undefined) return lines.join("\n");
  const all = diff.split("\n");
  const left = all.length - (options.maxLines ?? all.length);
  const visible = left > 0 ? all.slice(0, options.maxLines) : all;
  lines.push(...visible.map((line) => paintLine(line, options)));
  if (left > 0) lines.push(paint(options, "yellow", `… ${count(left, "more line")}`));
  return lines.join("\n");
}

/** Tells what changed, for any way to show it. */
export function contentChange(pending: PendingItem): ContentChange {
  const { item, before, after, state, hasHidden, note } = pending;
  const canShow = after !== undefined && !isBinary(after) && (before === undefined || !isBinary(before));
  const notes = [
    ...(item.target === undefined ? [] : [{ text: `a link to ${shown(item.target)}`, warns: false }]),
    ...(note === undefined ? [] : [{ text: note, warns: false }]),
    ...(hasHidden ? [{ text: "It holds hidden characters, spelled here as ‹U+…›.", warns: true }] : []),
  ];
  if (!canShow) {
    const text = "Oxbow cannot show its content: it is not text, or it is too long.";
    return { notes: [...notes, { text, warns: false }] };
  }
  if (state === "refused") notes.push({ text: "You declined this version before.", warns: false });
  if (state === "changed" && before === undefined) {
    const text = "Oxbow has no copy of the approved version to compare with. This is the whole file.";
    notes.push({ text, warns: false });
  }
  const text = readable(pending, after);
  const body = diffText(readable(pending, before), text, { maxLines: Number.POSITIVE_INFINITY });
  return { notes, diff: shownText(body.text), ...(before !== undefined && { text: shownText(text) }) };
}

/** Entries are stored on one line and shown on several. */
function readable({ item }: PendingItem, bytes: Uint8Array | undefined): string {
  if (bytes === undefined) return "";
  const text = Buffer.from(bytes).toString("utf8");
  const spread = item.entry === undefined ? text : `${JSON.stringify(JSON.parse(text), null, 2)}\n`;
  return spread.replace(new RegExp(`[^\\n]{${MAX_LINE}}(?=[^\\n])`, "gu"), "$&↩\n");
}

function paintLine(line: string, look: Look): string {
  if (line.startsWith("+")) return paint(look, "green", line);
  if (line.startsWith("-")) return paint(look, "red", line);
  return line.startsWith("@@") ? paint(look, "dim", line) : line;
}

export function formatSize(bytes: number): string {
  if (bytes < 1024) return count(bytes, "byte");
  const kilobytes = bytes / 1024;
  return kilobytes < 1024 ? `${kilobytes.toFixed(1)} KB` : `${(kilobytes / 1024).toFixed(1)} MB`;
}
