/** All keys of this user on one screen. */
import { padText, truncateText, wrapText } from "../../../base/text-width.js";
import { ACTIONS, type Bindings, type KeyAction, USUAL_KEYS } from "../keys/bindings.js";
import type { Theme } from "../theme.js";
import type { Dialog } from "./dialog.js";

export type Line = readonly [key: string, what: string];

/** The actions with configurable keys, and the fixed keys. All fit a terminal of 80 columns and 24 rows. */
const LINES: readonly (KeyAction | Line)[] = [
  "send",
  "queue",
  "newline",
  "take-back",
  ["esc", "interrupt; twice: clear the draft, or go back to a prompt"],
  ["ctrl+c, ctrl+d", "interrupt, clear the draft; twice, or without a draft: leave"],
  "mode",
  ["up, down", "history, at the first and last line"],
  "history",
  "stash",
  "editor",
  "image",
  "transcript",
  "redraw",
  "model",
  "approvals",
  "last-session",
  "sidebar",
  "work",
  "todos",
  ["/, @, !, tab", "commands, files, a shell command (!! yours alone); complete"],
  ["ctrl+a e w u k y _", "line start, end; delete word, to start, end; put back; undo"],
  "suspend",
];

/** What the help lists, in its order. */
export function keysAndWords(keys: Bindings = USUAL_KEYS): readonly Line[] {
  return LINES.map((line) => {
    if (typeof line !== "string") return line;
    return [keys.keysOf(line).join(", ") || "(no key)", ACTIONS[line].what];
  });
}

const SCROLLS = "up, down scroll; other keys close this.";

/** The arrow keys scroll if not everything fits; any other key closes it. */
export function helpDialog(keys: Bindings = USUAL_KEYS): Dialog<number, undefined> {
  const known = keysAndWords(keys);
  return {
    name: "help",
    fullScreen: true,
    first: 0,
    onKey: (top, { id = "" }) => {
      const by = { up: -1, down: 1, pageUp: -10, pageDown: 10 }[id];
      return by === undefined ? { done: undefined } : { state: Math.max(0, Math.min(2 * known.length, top + by)) };
    },
    view: (top, { columns, rows }, theme) => {
      const lines = keyLines(known, columns, theme);
      const room = Math.max(1, rows - 1);
      const first = Math.min(top, Math.max(0, lines.length - room));
      const words = lines.length > room ? SCROLLS : "/help lists the commands. Any key closes this.";
      const end = theme.dim(truncateText(words, columns));
      return { lines: [...lines.slice(first, first + room), end] };
    },
  };
}

function keyLines(known: readonly Line[], columns: number, theme: Theme): readonly string[] {
  if (columns < 70) {
    return known.flatMap(([key, what]) => [
      theme.key(truncateText(key, columns)),
      ...wrapText(what, Math.max(1, columns - 2)).map((line) => `  ${line}`),
    ]);
  }
  const width = Math.max(...known.map(([key]) => key.length));
  return known.map(([key, what]) => `${theme.key(padText(key, width))}  ${truncateText(what, columns - width - 2)}`);
}
