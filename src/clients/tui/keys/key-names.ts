/** One name for each key in any spelling: `ctrl+k` for `Ctrl-K`, `C-k` and `ctrl+k`. */

const MODIFIERS: Readonly<Record<string, string>> = {
  ctrl: "ctrl",
  control: "ctrl",
  c: "ctrl",
  alt: "alt",
  meta: "alt",
  option: "alt",
  m: "alt",
  shift: "shift",
  s: "shift",
};
const ORDER = ["ctrl", "alt", "shift"];

const NAMED: Readonly<Record<string, string>> = {
  enter: "enter",
  return: "enter",
  esc: "escape",
  escape: "escape",
  tab: "tab",
  space: "space",
  backspace: "backspace",
  delete: "delete",
  del: "delete",
  insert: "insert",
  home: "home",
  end: "end",
  up: "up",
  down: "down",
  left: "left",
  right: "right",
  pageup: "pageUp",
  pgup: "pageUp",
  pagedown: "pageDown",
  pgdn: "pageDown",
  ...Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`f${index + 1}`, `f${index + 1}`])),
};

/** Undefined if it is not a key. */
export function keyName(spelled: string): string | undefined {
  const text = spelled.trim();
  // The last character may be the key itself: `ctrl+-`.
  const parts = text.slice(0, -1).split(/[+-]/);
  const last = `${parts.pop() ?? ""}${text.slice(-1)}`;
  const modifiers = parts.map((part) => MODIFIERS[part.toLowerCase()]);
  if (modifiers.includes(undefined)) return undefined;
  const key = NAMED[last.toLowerCase()] ?? (/^[\x21-\x7e]$/.test(last) ? last.toLowerCase() : undefined);
  if (key === undefined) return undefined;
  return [...ORDER.filter((modifier) => modifiers.includes(modifier)), key].join("+");
}
