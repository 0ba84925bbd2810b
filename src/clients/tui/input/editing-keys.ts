/** What a key types. */
import type { Key } from "../terminal/terminal.js";

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
  return data === "" || /[\x00-\x1f\x7f-\x9f]/.test(data) ? undefined : data;
}
