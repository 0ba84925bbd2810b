/** Ctrl-R: searches earlier inputs by words. A value and pure functions; the composer keeps it while it is open. */
import { firstLine } from "../../../base/pasted-text.js";
import { safeLine } from "../../../base/terminal-text.js";
import { padText, textWidth, truncateText } from "../../../base/text-width.js";
import type { Key } from "../terminal/terminal.js";
import type { Theme } from "../theme.js";
import type { ComposerView } from "./composer-view.js";
import { typedText } from "./editing-keys.js";
import type { HistoryEntry } from "./history.js";

export interface HistorySearch {
  readonly query: string;
  /** The newest first. */
  readonly matches: readonly HistoryEntry[];
  readonly selected: number;
}

export type SearchStep =
  | { readonly kind: "open"; readonly search: HistorySearch }
  /** Puts the text into the draft; nothing is sent. */
  | { readonly kind: "taken"; readonly text: string }
  | { readonly kind: "cancelled" };

export function openSearch(entries: readonly HistoryEntry[], query = ""): HistorySearch {
  return { query, matches: matching(entries, query), selected: 0 };
}

export function searchKey(search: HistorySearch, key: Key, entries: readonly HistoryEntry[]): SearchStep {
  const { query, matches, selected } = search;
  const move = (by: number): SearchStep => {
    const last = Math.max(0, matches.length - 1);
    return { kind: "open", search: { ...search, selected: Math.max(0, Math.min(last, selected + by)) } };
  };
  switch (key.id) {
    case "ctrl+r":
    case "down":
    case "ctrl+n":
      return move(1);
    case "ctrl+s":
    case "up":
    case "ctrl+p":
      return move(-1);
    case "enter":
    case "tab":
    case "right":
    case "ctrl+e": {
      const found = matches[selected];
      return found === undefined ? { kind: "open", search } : { kind: "taken", text: found.text };
    }
    case "escape":
    case "ctrl+c":
    case "ctrl+g":
      return { kind: "cancelled" };
    case "backspace":
      return { kind: "open", search: openSearch(entries, Array.from(query).slice(0, -1).join("")) };
    case "ctrl+u":
    case "ctrl+w":
      return { kind: "open", search: openSearch(entries) };
    default: {
      const text = typedText(key);
      return { kind: "open", search: text === undefined ? search : openSearch(entries, query + text) };
    }
  }
}

/** The text must contain every word. Case matters only for words with capitals in the query. */
function matching(entries: readonly HistoryEntry[], query: string): readonly HistoryEntry[] {
  const words = query.split(/\s+/).filter(Boolean);
  if (words.length === 0) return entries;
  const exact = /\p{Lu}/u.test(query);
  return entries.filter(({ text }) => {
    const searched = exact ? text : text.toLowerCase();
    return words.every((word) => searched.includes(word));
  });
}

const LABEL = "history: ";
const AGE_WIDTH = 5;

export interface SearchViewOptions {
  readonly width: number;
  readonly maxRows: number;
  readonly theme: Theme;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export function viewSearch(search: HistorySearch, options: SearchViewOptions): ComposerView {
  const { width, maxRows, theme } = options;
  const room = Math.max(1, width - LABEL.length - 1);
  const query = tail(safeLine(search.query), room);
  const rows = Math.max(0, Math.min(8, maxRows - 1));
  const first = Math.max(0, Math.min(search.selected - Math.floor(rows / 2), search.matches.length - rows));
  const shown = search.matches.slice(first, first + rows);
  const lines = [
    `${theme.key(truncateText(LABEL, width))}${theme.text(query)}`.trimEnd(),
    ...shown.map((entry, index) => matchLine(entry, first + index === search.selected, options)),
  ];
  if (search.matches.length === 0 && rows > 0)
    lines.push(theme.dim(truncateText("  no earlier prompt matches", width)));
  return { lines, cursor: { row: 0, column: Math.min(width - 1, LABEL.length + textWidth(query)) } };
}

function matchLine(entry: HistoryEntry, isSelected: boolean, { width, theme, now }: SearchViewOptions): string {
  const text = safeLine(firstLine(entry.text));
  const line = `${isSelected ? ">" : " "} ${padText(age(now - entry.at), AGE_WIDTH)}${text}`;
  const cut = truncateText(line, width).trimEnd();
  return isSelected ? theme.selected(cut) : theme.text(cut);
}

/** `now`, `5m`, `3h`, `12d`. */
function age(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes}m`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)}h`;
  return `${Math.min(999, Math.floor(minutes / 1440))}d`;
}

/** The end of a query that is longer than its row. */
function tail(text: string, width: number): string {
  let cut = text;
  while (textWidth(cut) > width) cut = Array.from(cut).slice(1).join("");
  return cut;
}
