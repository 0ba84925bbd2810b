/** Up and down: through the rows of the draft, and at their edges through earlier inputs. The draft stays below. */
import type { Draft, DraftBuffer } from "./draft-buffer.js";
import type { HistoryEntry } from "./history.js";

interface Browsing {
  readonly entries: readonly HistoryEntry[];
  readonly index: number;
  /** The draft before browsing. */
  readonly draft: Draft;
  /** The text of the entry in the editor; a difference is a change by the user. */
  readonly shown: string;
}

export class HistoryBrowser {
  readonly #buffer: DraftBuffer;
  readonly #entries: () => readonly HistoryEntry[];
  #browsing: Browsing | undefined;

  constructor(buffer: DraftBuffer, entries: () => readonly HistoryEntry[]) {
    this.#buffer = buffer;
    this.#entries = entries;
  }

  stop(): void {
    this.#browsing = undefined;
  }

  up(): void {
    if (this.#isBetween() || !this.#buffer.editor.moveRows(-1)) this.#older();
  }

  down(): void {
    const { editor } = this.#buffer;
    if ((this.#isBetween() || !editor.moveRows(1)) && !this.#newer()) this.#toEnd();
  }

  /** An entry is shown and the caret has not moved: the next key goes to the next entry, however many rows this one has. */
  #isBetween(): boolean {
    const { editor } = this.#buffer;
    const { line, column } = editor.caret;
    const atEnd = line === editor.lines.length - 1 && column === editor.lines[line]?.length;
    return atEnd && this.#browsing?.shown === editor.text;
  }

  #older(): void {
    const { editor } = this.#buffer;
    const before = this.#browsing?.shown === editor.text ? this.#browsing : undefined;
    const entries = before?.entries ?? this.#entries();
    const now = this.#buffer.text;
    let index = before === undefined ? 0 : before.index + 1;
    while (entries[index]?.text === now) index++;
    const entry = entries[index];
    if (entry === undefined) return;
    const draft = before?.draft ?? this.#buffer.draft;
    this.#buffer.recall(entry.text);
    this.#browsing = { entries, index, draft, shown: editor.text };
  }

  #newer(): boolean {
    const { editor } = this.#buffer;
    const browsing = this.#browsing;
    if (browsing === undefined || browsing.shown !== editor.text) return false;
    const entry = browsing.entries[browsing.index - 1];
    if (entry === undefined) {
      this.#browsing = undefined;
      this.#buffer.restore(browsing.draft);
      return true;
    }
    this.#buffer.recall(entry.text);
    this.#browsing = { ...browsing, index: browsing.index - 1, shown: editor.text };
    return true;
  }

  #toEnd(): void {
    const { editor } = this.#buffer;
    editor.caret = { line: editor.caret.line, column: Number.POSITIVE_INFINITY };
  }
}
