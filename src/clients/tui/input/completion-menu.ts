/**
 * The list below the draft.
 *
 * 1. It never shows entries that do not match the text: until a new answer comes, the last one is filtered by the typed text.
 * 2. Escape closes it until the user begins another word.
 * 3. Enter takes the entry that the user moved to. Without a move it takes one only if the typed text is incomplete, and never runs it:
 *    Enter runs what was typed or chosen.
 */
import { looseScore } from "../../../base/loose-match.js";
import { safeLine } from "../../../base/terminal-text.js";
import { padText, textWidth, truncateText } from "../../../base/text-width.js";
import type { CompletionSource, Place, Suggestion, Suggestions } from "../../sdk/completion/completion.js";
import type { Theme } from "../theme.js";

const MAX_ROWS = 8;

export class CompletionMenu {
  readonly #source: CompletionSource;
  readonly #onChange: () => void;
  #shown: Suggestions | undefined;
  #typed = "";
  #selected = 0;
  /** The user chose the selected entry with an arrow key. */
  #isMoved = false;
  /** The start of the word for which the user closed the list. */
  #dismissed: number | undefined;
  #request = 0;
  #isPending = false;
  #afterAnswer: (() => void) | undefined;

  constructor(source: CompletionSource, onChange: () => void) {
    this.#source = source;
    this.#onChange = onChange;
  }

  get isOpen(): boolean {
    return this.#shown !== undefined && this.#shown.items.length > 0;
  }

  get selected(): Suggestion | undefined {
    return this.#shown?.items[this.#selected];
  }

  get start(): number {
    return this.#shown?.start ?? 0;
  }

  /** The user moved to the selected entry. */
  get isChosen(): boolean {
    return this.#isMoved;
  }

  get continuesTyped(): boolean {
    return this.selected?.value.startsWith(this.#typed) === true;
  }

  /** Enter sends the draft: the typed text needs no entry, and the user moved to none. */
  get isComplete(): boolean {
    if (this.#isMoved) return false;
    if (this.#typed === "" || this.#shown?.complete === true) return true;
    return this.#shown?.items.some(({ value }) => means(value, this.#typed)) === true;
  }

  /** After the text changed. */
  update(place: Place): void {
    this.#begin();
    const request = this.#request;
    const found = this.#source.suggest(place);
    if (!(found instanceof Promise)) {
      this.#show(found, place);
      return;
    }
    this.#isPending = true;
    this.#narrow(place);
    const take = (answer: Suggestions | undefined) => {
      if (request !== this.#request) return;
      this.#isPending = false;
      this.#show(answer, place);
      const after = this.#afterAnswer;
      this.#afterAnswer = undefined;
      after?.();
      this.#onChange();
    };
    found.then(take, () => take(undefined));
  }

  /** An answer is pending. */
  get isPending(): boolean {
    return this.#isPending;
  }

  /** Runs once the answer has come, unless the user types more. */
  whenAnswered(action: () => void): void {
    this.#afterAnswer = action;
  }

  /** Closes the list; the next change may open it again. */
  close(): void {
    this.#begin();
    this.#shown = undefined;
    this.#isMoved = false;
  }

  /** Ignores pending answers. */
  #begin(): void {
    this.#request++;
    this.#isPending = false;
    this.#afterAnswer = undefined;
  }

  /** Closes the list for this word. */
  dismiss(): void {
    this.#dismissed = this.#shown?.start;
    this.close();
  }

  move(by: number): void {
    const count = this.#shown?.items.length ?? 0;
    if (count === 0) return;
    this.#selected = (this.#selected + by + count) % count;
    this.#isMoved = true;
  }

  /** The common prefix of all suggestions that continue the typed text; undefined if it adds nothing. */
  get common(): string | undefined {
    const going = this.#shown?.items.filter(({ value }) => value.startsWith(this.#typed)) ?? [];
    const [first, ...others] = going;
    if (first === undefined || others.length === 0) return undefined;
    let { length } = first.value;
    for (const { value } of others) while (!value.startsWith(first.value.slice(0, length))) length--;
    return length > this.#typed.length ? first.value.slice(0, length) : undefined;
  }

  view(width: number, maxRows: number, theme: Theme): readonly string[] {
    if (this.#shown === undefined || maxRows <= 0) return [];
    const { items, usage } = this.#shown;
    const lines: string[] = [];
    const rows = Math.min(MAX_ROWS, items.length, usage === undefined ? maxRows : maxRows - 1);
    const first = Math.max(0, Math.min(this.#selected - Math.floor(rows / 2), items.length - rows));
    const shown = items.slice(first, first + rows);
    const widest = Math.max(0, ...shown.map((item) => textWidth(safeLine(labelOf(item)))));
    const column = Math.min(widest, Math.max(12, Math.floor(width * 0.5)));
    for (const [index, item] of shown.entries()) {
      lines.push(itemLine(item, { width, column, theme, isSelected: first + index === this.#selected }));
    }
    if (usage !== undefined) lines.push(theme.dim(truncateText(`  ${safeLine(usage)}`, width)));
    return lines;
  }

  #show(found: Suggestions | undefined, { line, column }: Place): void {
    if (found === undefined || found.start !== this.#dismissed) this.#dismissed = undefined;
    const isDismissed = found !== undefined && found.start === this.#dismissed;
    const before = this.selected?.value;
    this.#shown = isDismissed ? undefined : found;
    this.#typed = found === undefined ? "" : line.slice(found.start, column);
    const kept = found?.items.findIndex(({ value }) => value === before) ?? -1;
    // The best match is first; a choice with an arrow key stays only until the user types.
    const stays = kept >= 0 && found?.items.length === this.#shown?.items.length && this.#typed === "";
    this.#selected = stays ? kept : 0;
    this.#isMoved = stays && this.#isMoved;
  }

  #narrow({ line, column }: Place): void {
    if (this.#shown === undefined) return;
    const { start } = this.#shown;
    const typed = line.slice(start, column);
    const items = this.#shown.items.filter(({ value }) => looseScore(typed, value) !== undefined);
    this.#shown = column < start || /\s/.test(typed) ? undefined : { start, items };
    this.#typed = typed;
    this.#selected = 0;
    this.#isMoved = false;
  }
}

/** A folder without its slash, and a model without its provider, mean the entry too. */
function means(value: string, typed: string): boolean {
  return value === typed || value === `${typed}/` || value.endsWith(`:${typed}`);
}

function labelOf({ label, hint }: Suggestion): string {
  return hint === undefined || hint === "" ? label : `${label} ${hint}`;
}

function itemLine(
  item: Suggestion,
  options: { readonly width: number; readonly column: number; readonly theme: Theme; readonly isSelected: boolean },
): string {
  const { width, column, theme, isSelected } = options;
  const label = padText(truncateText(safeLine(labelOf(item)), column), column);
  const start = `${isSelected ? ">" : " "} ${label}`;
  const about = item.description === undefined ? "" : `  ${safeLine(item.description)}`;
  const room = width - textWidth(start);
  if (isSelected) return theme.selected(truncateText(`${start}${about}`.trimEnd(), width));
  const rest = truncateText(about, Math.max(0, room)).trimEnd();
  const shown = truncateText(rest === "" ? start.trimEnd() : start, width);
  return rest === "" ? theme.text(shown) : theme.text(shown) + theme.dim(rest);
}
