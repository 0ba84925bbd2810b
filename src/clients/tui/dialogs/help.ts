/** All keys on one screen. */
import { padText, truncateText } from "../../../base/text-width.js";
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
  ["/", "commands"],
  ["@", "files"],
  ["!command", "run a command yourself; !! shows it to the model"],
  ["tab", "complete; with an open question: editor or question"],
  ["ctrl+z", "suspend; fg comes back"],
  ["?", "this help, when the draft is empty"],
];

/** Any key closes it. */
export function helpDialog(): Dialog<null, undefined> {
  return {
    name: "help",
    first: null,
    onKey: () => ({ done: undefined }),
    view: (_state, { columns, rows }, theme) => {
      const wide = columns >= 70;
      const width = wide ? Math.max(...KEYS.map(([key]) => key.length)) : 0;
      const lines = KEYS.flatMap(([key, what]) =>
        wide
          ? [`${theme.key(padText(key, width))}  ${truncateText(what, columns - width - 2)}`]
          : [theme.key(truncateText(key, columns)), `  ${truncateText(what, Math.max(1, columns - 2))}`],
      );
      const end = theme.dim(truncateText("/help lists the commands. Any key closes this.", columns));
      return { lines: [...lines.slice(0, Math.max(1, rows - 1)), end] };
    },
  };
}
