/** The keys of the composer, by function. The ids are those of pi-tui's `parseKey`. */
import { decodePrintableKey } from "@earendil-works/pi-tui/dist/keys.js";
import type { Key } from "../terminal/terminal.js";

/** Keys that the library's editor handles itself. */
export const EDITOR_KEYS: ReadonlySet<string> = new Set([
  ...["left", "right", "ctrl+b", "ctrl+f", "home", "end", "ctrl+a", "ctrl+e"],
  ...["alt+left", "alt+right", "ctrl+left", "ctrl+right", "alt+b", "alt+f"],
  ...["backspace", "shift+backspace", "delete", "shift+delete", "ctrl+d"],
  ...["ctrl+w", "alt+backspace", "alt+d", "alt+delete", "ctrl+u", "ctrl+k", "ctrl+y", "alt+y"],
  ...["ctrl+]", "ctrl+alt+]"],
]);

/** Ctrl-_ and Ctrl-/ come as the byte that pi-tui names `ctrl+-`. */
export const UNDO_KEYS: ReadonlySet<string> = new Set(["ctrl+-", "ctrl+_", "ctrl+shift+-", "ctrl+shift+_", "ctrl+/"]);

const NEWLINE_KEYS: ReadonlySet<string> = new Set([
  "shift+enter",
  "alt+enter",
  "ctrl+enter",
  "ctrl+j",
  "alt+shift+enter",
]);

/** A bare line feed is Ctrl-J in every terminal protocol; Enter is a carriage return. */
export function isNewlineKey({ id, data }: Key): boolean {
  return data === "\n" || (id !== undefined && NEWLINE_KEYS.has(id));
}

/** The text that a key types; undefined for a key that types none. */
export function typedText({ data }: Key): string | undefined {
  const printable = decodePrintableKey(data) ?? data;
  return printable === "" || /[\x00-\x1f\x7f-\x9f]/.test(printable) ? undefined : printable;
}
