/**
 * The text of a draft, its caret, the deleted texts and the undo.
 *
 * 1. A state is a value. Every change makes a new one, and undo goes back to an old one.
 * 2. A caret is always between two characters that a person sees.
 */
import { type Cell, type DraftLayout, type Row, segmentsOf } from "./draft-layout.js";

export interface Caret {
  readonly line: number;
  readonly column: number;
}

interface State extends Caret {
  readonly lines: readonly string[];
}

/** What the last key did: letters that follow each other are one step of undo, and deletions one text. */
type Action = "type" | "delete" | "insert deleted" | undefined;
type Direction = -1 | 1;

const MAX_UNDO = 500;
const MAX_DELETED = 60;
/** No visible character is longer. */
const MAX_CHARACTER = 64;
const PUNCTUATION = /[!-/:-@[-^`{-~]/;

export class PromptEditor {
  readonly #layout: DraftLayout;
  readonly #onChange: () => void;
  readonly #undo: State[] = [];
  #state: State = { lines: [""], line: 0, column: 0 };
  #deleted: string[] = [];
  #last: Action;
  /** Where the text began that was inserted from the deleted ones. */
  #inserted: Caret = this.#state;
  /** The next character is one to jump to. */
  #jump: Direction | undefined;
  /** The column that up and down try to keep. */
  #goal: number | undefined;
  #width = 80;
  /** The rows of the current text; undefined after a change. */
  #rows: readonly Row[] | undefined;

  constructor(layout: DraftLayout, onChange: () => void) {
    this.#layout = layout;
    this.#onChange = onChange;
  }

  /** With tokens for attachments. */
  get text(): string {
    return this.#state.lines.join("\n");
  }

  get lines(): readonly string[] {
    return this.#state.lines;
  }

  get isEmpty(): boolean {
    const { lines } = this.#state;
    return lines.length === 1 && lines[0] === "";
  }

  get caret(): Caret {
    return this.#state;
  }

  set caret({ line, column }: Caret) {
    const { lines } = this.#state;
    const at = Math.max(0, Math.min(line, lines.length - 1));
    this.#state = { lines, line: at, column: Math.max(0, Math.min(column, this.#lineAt(at).length)) };
    this.#did(undefined);
  }

  /** Does what an editing key means; false for any other key. */
  press(id: string): boolean {
    const action = EDITING[id];
    if (action === undefined) return false;
    this.#jump = undefined;
    action(this);
    return true;
  }

  type(text: string): void {
    const direction = this.#jump;
    this.#jump = undefined;
    if (direction !== undefined) {
      this.#jumpTo(text, direction);
      return;
    }
    if (this.#last !== "type" || /\s/.test(text)) this.#remember();
    this.#change(this.caret, this.caret, text);
    this.#did("type");
  }

  newline(): void {
    this.insert("\n");
  }

  undo(): void {
    const before = this.#undo.pop();
    this.#did(undefined);
    if (before !== undefined) this.#set(before);
  }

  /** Inserts as one step of undo. */
  insert(text: string): void {
    if (text === "") return;
    this.#remember();
    this.#change(this.caret, this.caret, text);
    this.#did(undefined);
  }

  /** Replaces everything as one step of undo. The caret goes to the end. */
  setText(text: string): void {
    if (text !== this.text) this.#remember();
    const lines = plainBreaks(text).split("\n");
    this.#did(undefined);
    this.#set({ lines, line: lines.length - 1, column: lines.at(-1)?.length ?? 0 });
  }

  /** Replaces a part of the caret's line, as one step of undo; the caret goes behind it. */
  replaceInLine(start: number, end: number, text: string): void {
    const { line } = this.#state;
    this.#remember();
    this.#change({ line, column: start }, { line, column: end }, text);
    this.#did(undefined);
  }

  /** Replaces what is between two places, as one step of undo; the caret goes behind the new text. */
  replace(from: Caret, to: Caret, text: string): void {
    this.#remember();
    this.#change(from, to, text);
    this.#did(undefined);
  }

  /** Replaces a token everywhere; the caret stays at its character. It is not a step of undo. */
  replaceToken(token: string, text: string): void {
    const { lines, line, column } = this.#state;
    const at = this.#lineAt(line).indexOf(token);
    const moved = at !== -1 && column > at ? column + text.length - 1 : column;
    this.#set({ lines: lines.map((each) => each.replaceAll(token, () => text)), line, column: moved });
  }

  /** Clears the text and the undo. Deleted text can still be inserted, so `plain` turns its tokens into text. */
  reset(plain: (text: string) => string): void {
    this.#state = { lines: [""], line: 0, column: 0 };
    this.#rows = undefined;
    this.#undo.length = 0;
    this.#deleted = this.#deleted.map(plain);
    this.#did(undefined);
  }

  /** Moves by one character, over the ends of lines too. */
  move(direction: Direction): void {
    this.caret = this.#beside(direction);
  }

  moveWord(direction: Direction): void {
    this.caret = this.#wordEnd(direction);
  }

  moveInLine(column: number): void {
    this.caret = { line: this.#state.line, column };
  }

  /** Deletes a character, which the deleted texts do not keep. */
  erase(direction: Direction): void {
    const to = this.#beside(direction);
    if (isSame(to, this.caret)) return;
    this.#remember();
    this.#cut(to, direction);
    this.#did(undefined);
  }

  deleteWord(direction: Direction): void {
    this.#delete(this.#wordEnd(direction), direction);
  }

  /** Deletes to the start or the end of the line; there it deletes the line break. */
  deleteLine(direction: Direction): void {
    const { line, column } = this.#state;
    const edge = direction === -1 ? 0 : this.#lineAt(line).length;
    this.#delete(column === edge ? this.#beside(direction) : { line, column: edge }, direction);
  }

  insertDeleted(): void {
    const text = this.#deleted.at(-1);
    if (text === undefined) return;
    this.#remember();
    this.#inserted = this.caret;
    this.#change(this.caret, this.caret, text);
    this.#did("insert deleted");
  }

  /** Replaces the text that `insertDeleted` inserted by the one deleted before it. */
  insertOlder(): void {
    if (this.#last !== "insert deleted" || this.#deleted.length < 2) return;
    this.#remember();
    this.#deleted.unshift(this.#deleted.pop() as string);
    this.#change(this.#inserted, this.caret, this.#deleted.at(-1) as string);
    this.#did("insert deleted");
  }

  /** Waits for the character to jump to. */
  awaitJump(direction: Direction): void {
    this.#jump = direction;
  }

  rows(width: number): { readonly rows: readonly Row[]; readonly current: number } {
    if (width !== this.#width) this.#rows = undefined;
    this.#width = width;
    this.#rows ??= this.#layout.rows(this.lines, width);
    return { rows: this.#rows, current: rowOf(this.#rows, this.caret) };
  }

  cells(row: Row): Cell[] {
    return this.#layout.cells(this.lines[row.line] ?? "", row);
  }

  /** Moves the caret by rows and keeps its column; false at the edge. */
  moveRows(by: number): boolean {
    const { rows, current } = this.rows(this.#width);
    const target = rows[Math.max(0, Math.min(rows.length - 1, current + by))];
    const from = rows[current];
    if (target === undefined || from === undefined || target === from) return false;
    const goal = this.#goal ?? this.#columnIn(from);
    const after = rows[rows.indexOf(target) + 1];
    this.caret = { line: target.line, column: this.#indexAt(target, goal, after) };
    this.#goal = goal;
    return true;
  }

  #columnIn(row: Row): number {
    const { column } = this.caret;
    return this.cells(row).reduce((sum, cell) => (cell.index < column ? sum + cell.width : sum), 0);
  }

  #indexAt(row: Row, goal: number, after: Row | undefined): number {
    let used = 0;
    const cells = this.cells(row);
    for (const cell of cells) {
      if (used + cell.width > goal) return cell.index;
      used += cell.width;
    }
    // The end of a wrapped row is the beginning of the next one, so the caret stays before its last character.
    return after?.line === row.line ? (cells.at(-1)?.index ?? row.start) : row.end;
  }

  #lineAt(line: number): string {
    return this.#state.lines[line] ?? "";
  }

  #did(action: Action): void {
    this.#last = action;
    this.#goal = undefined;
  }

  #set(state: State): void {
    this.#state = state;
    this.#rows = undefined;
    this.#onChange();
  }

  #remember(): void {
    this.#undo.push(this.#state);
    if (this.#undo.length > MAX_UNDO) this.#undo.shift();
  }

  /** Replaces what is between two places; the caret goes behind the new text. */
  #change(from: Caret, to: Caret, text: string): void {
    const { lines } = this.#state;
    const after = this.#lineAt(to.line).slice(to.column);
    const middle = (this.#lineAt(from.line).slice(0, from.column) + plainBreaks(text) + after).split("\n");
    const line = from.line + middle.length - 1;
    const column = (middle.at(-1)?.length ?? 0) - after.length;
    // Not `splice` with a spread: a megabyte of lines is more than a call takes.
    this.#set({ lines: lines.slice(0, from.line).concat(middle, lines.slice(to.line + 1)), line, column });
  }

  /** Removes the text between the caret and another place, and returns it. */
  #cut(to: Caret, direction: Direction): string {
    const [start, end] = direction === -1 ? [to, this.caret] : [this.caret, to];
    const lines = this.#state.lines.slice(start.line, end.line + 1);
    const last = lines.length - 1;
    const text = lines
      .map((each, index) => each.slice(index === 0 ? start.column : 0, index === last ? end.column : undefined))
      .join("\n");
    this.#change(start, end, "");
    return text;
  }

  #delete(to: Caret, direction: Direction): void {
    if (isSame(to, this.caret)) return;
    this.#remember();
    const goesOn = this.#last === "delete";
    const text = this.#cut(to, direction);
    const before = goesOn ? (this.#deleted.pop() ?? "") : "";
    this.#deleted.push(direction === -1 ? text + before : before + text);
    if (this.#deleted.length > MAX_DELETED) this.#deleted.shift();
    this.#did("delete");
  }

  /** The place one character further, or where the line ends the end or start of the next one. */
  #beside(direction: Direction): Caret {
    const { lines, line, column } = this.#state;
    const text = this.#lineAt(line);
    if (direction === -1) {
      if (column > 0) {
        const before = segmentsOf(text.slice(Math.max(0, column - MAX_CHARACTER), column)).at(-1)?.segment ?? "";
        return { line, column: column - before.length };
      }
      return line === 0 ? { line, column } : { line: line - 1, column: this.#lineAt(line - 1).length };
    }
    if (column < text.length) {
      const after = segmentsOf(text.slice(column, column + MAX_CHARACTER))[0]?.segment ?? "";
      return { line, column: column + after.length };
    }
    return line === lines.length - 1 ? { line, column } : { line: line + 1, column: 0 };
  }

  /** Skips blanks, and then one word or one run of punctuation. */
  #wordEnd(direction: Direction): Caret {
    const { line, column } = this.#state;
    const text = this.#lineAt(line);
    if (column === (direction === -1 ? 0 : text.length)) return this.#beside(direction);
    const part = direction === -1 ? text.slice(0, column) : text.slice(column);
    const found = (direction === -1 ? segmentsOf(part).reverse() : segmentsOf(part)).map(({ segment }) => segment);
    const start = found.findIndex((segment) => !isBlank(segment));
    const first = start === -1 ? undefined : kindOf(found[start] as string);
    const length = first === undefined ? -1 : found.slice(start).findIndex((segment) => kindOf(segment) !== first);
    const skipped = found.slice(0, length === -1 ? found.length : start + length).join("").length;
    return { line, column: column + direction * skipped };
  }

  #jumpTo(text: string, direction: Direction): void {
    const { lines, line, column } = this.#state;
    const here = this.#lineAt(line);
    // A negative start would search from the beginning.
    const near =
      direction === 1 ? here.indexOf(text, column + 1) : column === 0 ? -1 : here.lastIndexOf(text, column - 1);
    if (near !== -1) {
      this.caret = { line, column: near };
      return;
    }
    for (let at = line + direction; at >= 0 && at < lines.length; at += direction) {
      const found = direction === 1 ? this.#lineAt(at).indexOf(text) : this.#lineAt(at).lastIndexOf(text);
      if (found === -1) continue;
      this.caret = { line: at, column: found };
      return;
    }
  }
}

/** The editing keys, named as in shells and editors. */
const EDITING: Readonly<Record<string, (editor: PromptEditor) => void>> = {
  ...keys(["left", "ctrl+b"], (editor) => editor.move(-1)),
  ...keys(["right", "ctrl+f"], (editor) => editor.move(1)),
  ...keys(["alt+left", "ctrl+left", "alt+b"], (editor) => editor.moveWord(-1)),
  ...keys(["alt+right", "ctrl+right", "alt+f"], (editor) => editor.moveWord(1)),
  ...keys(["home", "ctrl+a"], (editor) => editor.moveInLine(0)),
  ...keys(["end", "ctrl+e"], (editor) => editor.moveInLine(Number.POSITIVE_INFINITY)),
  ...keys(["backspace", "shift+backspace"], (editor) => editor.erase(-1)),
  ...keys(["delete", "shift+delete", "ctrl+d"], (editor) => editor.erase(1)),
  ...keys(["ctrl+w", "alt+backspace", "ctrl+backspace"], (editor) => editor.deleteWord(-1)),
  ...keys(["alt+d", "alt+delete", "ctrl+delete"], (editor) => editor.deleteWord(1)),
  ...keys(["ctrl+u"], (editor) => editor.deleteLine(-1)),
  ...keys(["ctrl+k"], (editor) => editor.deleteLine(1)),
  ...keys(["ctrl+y"], (editor) => editor.insertDeleted()),
  ...keys(["alt+y"], (editor) => editor.insertOlder()),
  ...keys(["ctrl+]"], (editor) => editor.awaitJump(1)),
  ...keys(["ctrl+alt+]"], (editor) => editor.awaitJump(-1)),
  ...keys(["ctrl+-", "ctrl+_", "ctrl+shift+-", "ctrl+shift+_", "ctrl+/"], (editor) => editor.undo()),
};

function keys(ids: readonly string[], action: (editor: PromptEditor) => void) {
  return Object.fromEntries(ids.map((id) => [id, action]));
}

/** Tabs are text: a pasted Makefile keeps them. */
function plainBreaks(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

function isSame(a: Caret, b: Caret): boolean {
  return a.line === b.line && a.column === b.column;
}

function isBlank(segment: string): boolean {
  return /^\s/.test(segment);
}

/** An attachment is a word of its own. */
function kindOf(segment: string): string {
  if (/^\p{Surrogate}$/u.test(segment)) return segment;
  return isBlank(segment) ? "blank" : PUNCTUATION.test(segment) ? "punctuation" : "word";
}

function rowOf(rows: readonly Row[], { line, column }: Caret): number {
  const next = rows.findIndex((row) => row.line > line || (row.line === line && row.start > column));
  return (next === -1 ? rows.length : next) - 1;
}
