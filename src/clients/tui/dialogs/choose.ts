/** A short question with a few answers. Esc closes it without one. */
import { wrapText } from "../../../base/text-width.js";
import type { Choice } from "../../sdk/permission-choices.js";
import { choiceRows, chosenBy, markedBy } from "./choices.js";
import type { Dialog } from "./dialog.js";

interface ChooseState {
  readonly marked?: number;
}

export function chooseDialog<A>(question: string, choices: readonly Choice<A>[]): Dialog<ChooseState, A | undefined> {
  return {
    name: "choose",
    first: {},
    onKey: ({ marked }, key) => {
      if (key.id === "escape") return { done: undefined };
      const moved = markedBy(key, marked, choices.length);
      if (moved !== undefined) return { state: { marked: moved } };
      const answer = chosenBy(key, choices, marked);
      return answer === undefined ? { state: marked === undefined ? {} : { marked } } : { done: answer };
    },
    view: ({ marked }, { columns }, theme) => ({
      lines: [
        ...wrapText(question, columns).map((line) => theme.warning(line)),
        ...choiceRows(choices, marked, { columns, theme }),
      ],
    }),
  };
}
