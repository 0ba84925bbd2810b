/**
 * Choices by letter, digit, or arrows and Enter, and a line of words for the one that needs some.
 *
 * Enter is no answer before an arrow has marked a choice.
 */
import { safeLine } from "../../../base/terminal-text.js";
import { wrapText } from "../../../base/text-width.js";
import type { Choice } from "../../sdk/permission-choices.js";
import type { Key } from "../terminal/terminal.js";
import type { Theme } from "../theme.js";

export interface Look {
  readonly columns: number;
  readonly theme: Theme;
}

/** The choice after an arrow key; undefined for any other key. */
export function markedBy({ id }: Key, marked: number | undefined, count: number): number | undefined {
  if (id === "down") return ((marked ?? -1) + 1) % count;
  if (id === "up") return ((marked ?? 0) + count - 1) % count;
  return undefined;
}

export function chosenBy<A>({ id }: Key, choices: readonly Choice<A>[], marked: number | undefined): A | undefined {
  const index = id === "enter" ? marked : choices.findIndex(({ key }, at) => id === key || id === String(at + 1));
  return choices[index ?? -1]?.answer;
}

export function choiceRows(
  choices: readonly Choice<unknown>[],
  marked: number | undefined,
  { columns, theme }: Look,
): string[] {
  return choices.flatMap(({ key, label }, index) => {
    const [first = "", ...rest] = wrapText(label, Math.max(1, columns - 6));
    const isMarked = index === marked;
    const mark = isMarked ? theme.key("❯ ") : "  ";
    const style = isMarked ? theme.strong : (text: string) => text;
    return [`${mark}${theme.key(`[${key}]`)} ${style(first)}`, ...rest.map((row) => `      ${style(row)}`)];
  });
}

/** The words after a key that edits them; undefined for one that does not. */
export function wordsAfter({ id, data }: Key, words: string): string | undefined {
  if (id === "backspace") return [...words].slice(0, -1).join("");
  if (id === "ctrl+u") return "";
  return /^[^\p{Cc}\u001b]+$/u.test(data) ? words + data : undefined;
}

export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}

/** The end of long words is where they are typed. */
export function wordsRow(
  label: string,
  words: string,
  { columns, theme }: Look,
): { readonly line: string; readonly column: number } {
  const room = Math.max(1, columns - label.length - 1);
  const shown = [...safeLine(words)].slice(-room).join("");
  return { line: `${theme.key(label)}${shown}`, column: label.length + shown.length };
}
