/** All keys on one screen. */
import { padText, truncateText, wrapText } from "../../../base/text-width.js";
import type { Theme } from "../theme.js";
import type { Dialog } from "./dialog.js";

export const KEYS: readonly (readonly [key: string, what: string])[] = [
  ["enter", "send; during a turn: the model gets it at its next step"],
  ["alt+enter", "during a turn: send when it has ended"],
  ["shift+enter, ctrl+j, \\ enter", "new line"],
  ["alt+up", "take queued input back into the editor"],
  ["esc", "interrupt what runs"],
  ["ctrl+c", "interrupt, clear the draft; twice: leave"],
  ["ctrl+d", "leave, when the draft is empty"],
  ["shift+tab", "mode: ask, auto, plan"],
  ["up, down", "history, at the first and last line"],
  ["ctrl+r", "search the history"],
  ["ctrl+g", "edit the draft in $EDITOR"],
  ["ctrl+o", "the whole conversation with all output"],
  ["ctrl+l, alt+p", "choose a model"],
  ["alt+a", "review files that wait for your approval"],
  ["alt+r", "resume the last conversation of this folder"],
  ["alt+s", "sidebar: sessions, rules, instructions"],
  ["/", "commands"],
  ["@", "files"],
  ["!command", "run a command yourself; !! shows it to the model"],
  ["tab", "complete; with an open question: editor or question"],
  ["ctrl+z", "suspend; fg comes back"],
  ["?", "this help, when the draft is empty"],
];

const SCROLLS = "up, down scroll; other keys close this.";

/** Arrows scroll where not all fit; any other key closes it. */
export function helpDialog(): Dialog<number, undefined> {
  return {
    name: "help",
    fullScreen: true,
    first: 0,
    onKey: (top, { id = "" }) => {
      const by = { up: -1, down: 1, pageUp: -10, pageDown: 10 }[id];
      return by === undefined ? { done: undefined } : { state: Math.max(0, Math.min(2 * KEYS.length, top + by)) };
    },
    view: (top, { columns, rows }, theme) => {
      const lines = keyLines(columns, theme);
      const room = Math.max(1, rows - 1);
      const first = Math.min(top, Math.max(0, lines.length - room));
      const words = lines.length > room ? SCROLLS : "/help lists the commands. Any key closes this.";
      const end = theme.dim(truncateText(words, columns));
      return { lines: [...lines.slice(first, first + room), end] };
    },
  };
}

function keyLines(columns: number, theme: Theme): readonly string[] {
  if (columns < 70) {
    return KEYS.flatMap(([key, what]) => [
      theme.key(truncateText(key, columns)),
      ...wrapText(what, Math.max(1, columns - 2)).map((line) => `  ${line}`),
    ]);
  }
  const width = Math.max(...KEYS.map(([key]) => key.length));
  return KEYS.map(([key, what]) => `${theme.key(padText(key, width))}  ${truncateText(what, columns - width - 2)}`);
}
