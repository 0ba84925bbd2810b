/** Keys as a terminal sends them, and a theme without styles, for tests. */
import { nameKey } from "../terminal/key-name.js";
import type { Key } from "../terminal/terminal.js";
import { ROLES, type Theme } from "../theme.js";

export function key(data: string): Key {
  return nameKey(data) ?? { id: undefined, data };
}

/** One key for each character. */
export function keys(text: string): readonly Key[] {
  return Array.from(text, key);
}

export const BYTES = {
  enter: "\r",
  shiftEnter: "\x1b[13;2u",
  altEnter: "\x1b\r",
  ctrlJ: "\n",
  backspace: "\x7f",
  delete: "\x1b[3~",
  up: "\x1b[A",
  down: "\x1b[B",
  left: "\x1b[D",
  right: "\x1b[C",
  home: "\x1b[H",
  end: "\x1b[F",
  wordLeft: "\x1b[1;5D",
  wordRight: "\x1b[1;5C",
  tab: "\t",
  escape: "\x1b",
  undo: "\x1f",
  killWord: "\x17",
  killLineStart: "\x15",
  killLineEnd: "\x0b",
  yank: "\x19",
  yankPop: "\x1by",
  ctrlA: "\x01",
  ctrlG: "\x07",
  ctrlR: "\x12",
  ctrlS: "\x13",
  ctrlX: "\x18",
  ctrlE: "\x05",
} as const;

const roles = Object.fromEntries(ROLES.map((role) => [role, (text: string) => text]));

export const plainTheme = { ...roles, name: "plain", links: false } as unknown as Theme;
