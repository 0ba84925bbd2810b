/**
 * Pastes in a line that is being edited: a mark such as `[pasted 200 lines]` stands for the text, and becomes it when the line is sent.
 * A mark keeps its text for a while, because the editor's own history holds the mark.
 */
import { pasteLabel } from "../base/pasted-text.js";

const MOST_KEPT = 20;
/** A longer line is shown as a mark too. */
const MAX_CHARACTERS = 1000;

export class PasteMarks {
  readonly #texts = new Map<string, string>();

  /** The text or mark for the line. */
  shown(text: string): string {
    const trimmed = text.replace(/\n+$/, "");
    if (!trimmed.includes("\n") && trimmed.length <= MAX_CHARACTERS) return trimmed;
    const mark = this.#newMark(trimmed);
    this.#texts.set(mark, trimmed);
    const oldest = this.#texts.keys().next().value;
    if (this.#texts.size > MOST_KEPT && oldest !== undefined) this.#texts.delete(oldest);
    return mark;
  }

  expand(line: string): string {
    let text = line;
    for (const [mark, pasted] of this.#texts) text = text.replaceAll(mark, () => pasted);
    return text;
  }

  startsWithMark(line: string): boolean {
    return [...this.#texts.keys()].some((mark) => line.trimStart().startsWith(mark));
  }

  /** The mark that ends the text: one key deletes all of it. */
  endingMark(text: string): string | undefined {
    return [...this.#texts.keys()].find((mark) => text.endsWith(mark));
  }

  #newMark(text: string): string {
    const label = pasteLabel(text);
    if (!this.#texts.has(label) || this.#texts.get(label) === text) return label;
    for (let number = 2; ; number++) {
      const mark = label.replace("]", `, no. ${number}]`);
      if (!this.#texts.has(mark)) return mark;
    }
  }
}
