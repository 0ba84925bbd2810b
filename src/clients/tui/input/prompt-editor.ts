/**
 * The library's editor without its screen: it keeps the text, the caret, the kill ring and the undo. Rows, pastes, history and
 * completion are ours. The library is pinned, and `Internals` lists the private members that we use.
 */
import { Editor } from "@earendil-works/pi-tui/dist/components/editor.js";
import type { TUI } from "@earendil-works/pi-tui/dist/tui.js";
import { type Cell, type DraftLayout, type Row, segmentsOf } from "./draft-layout.js";

interface State {
  lines: string[];
  cursorLine: number;
  cursorCol: number;
}

interface Internals {
  state: State;
  undoStack: UndoStack;
  lastAction: string | null;
  readonly killRing: { ring: string[] };
  segment: (text: string) => { readonly segment: string; readonly index: number }[];
  normalizeText: (text: string) => string;
  insertCharacter(text: string): void;
  addNewLine(): void;
  undo(): void;
  deleteWordBackwards(): void;
  deleteWordForward(): void;
  setCursorCol(column: number): void;
  pushUndoSnapshot(): void;
}

export interface Caret {
  readonly line: number;
  readonly column: number;
}

const MAX_UNDO = 500;
const same = (text: string) => text;

export class PromptEditor {
  readonly #editor: Editor;
  readonly #inside: Internals;
  readonly #layout: DraftLayout;
  /** The column that up and down try to keep. */
  #goal: number | undefined;
  #width = 80;
  /** The rows of the current text; undefined after a change. */
  #rows: readonly Row[] | undefined;

  constructor(layout: DraftLayout, onChange: () => void) {
    this.#layout = layout;
    const screen = { requestRender() {}, terminal: { rows: 24 } } as unknown as TUI;
    const list = { selectedPrefix: same, selectedText: same, description: same, scrollInfo: same, noMatch: same };
    this.#editor = new Editor(screen, { borderColor: same, selectList: list });
    this.#editor.onChange = () => {
      this.#rows = undefined;
      onChange();
    };
    this.#inside = this.#editor as unknown as Internals;
    this.#inside.undoStack = new UndoStack();
    this.#inside.segment = segmentsOf;
    // Tabs are text: a pasted Makefile keeps them.
    this.#inside.normalizeText = (text) => text.replace(/\r\n?/g, "\n");
  }

  /** With tokens for attachments. */
  get text(): string {
    return this.#inside.state.lines.join("\n");
  }

  get lines(): readonly string[] {
    return this.#inside.state.lines;
  }

  get isEmpty(): boolean {
    const { lines } = this.#inside.state;
    return lines.length === 1 && lines[0] === "";
  }

  get caret(): Caret {
    const { cursorLine, cursorCol } = this.#inside.state;
    return { line: cursorLine, column: cursorCol };
  }

  set caret({ line, column }: Caret) {
    const { state } = this.#inside;
    state.cursorLine = Math.max(0, Math.min(line, state.lines.length - 1));
    this.#inside.setCursorCol(Math.max(0, Math.min(column, state.lines[state.cursorLine]?.length ?? 0)));
    this.#inside.lastAction = null;
    this.#goal = undefined;
  }

  /** An editing key of the library: movement, deletion, kill ring, undo. */
  press(data: string): void {
    this.#goal = undefined;
    this.#editor.handleInput(data);
  }

  type(text: string): void {
    this.#goal = undefined;
    this.#inside.insertCharacter(text);
  }

  undo(): void {
    this.#goal = undefined;
    this.#inside.undo();
  }

  deleteWord(direction: "back" | "forward"): void {
    this.#goal = undefined;
    if (direction === "back") this.#inside.deleteWordBackwards();
    else this.#inside.deleteWordForward();
  }

  newline(): void {
    this.#goal = undefined;
    this.#inside.addNewLine();
  }

  /** As one step for undo. */
  insert(text: string): void {
    this.#goal = undefined;
    this.#editor.insertTextAtCursor(text);
  }

  /** As one step for undo. The caret goes to the end. */
  setText(text: string): void {
    this.#goal = undefined;
    this.#editor.setText(text);
  }

  /** Replaces a part of the caret's line, as one step for undo; the caret goes behind it. */
  replaceInLine(start: number, end: number, text: string): void {
    const { state } = this.#inside;
    this.#inside.pushUndoSnapshot();
    const line = state.lines[state.cursorLine] ?? "";
    state.lines[state.cursorLine] = line.slice(0, start) + line.slice(end);
    this.#inside.setCursorCol(start);
    this.#inside.lastAction = null;
    this.#goal = undefined;
    const [first = "", ...more] = text.split("\n");
    this.#splice([first, ...more]);
    this.#editor.onChange?.("");
  }

  /** Replaces a token everywhere; the caret stays at its character. It is not an undo step. */
  replaceToken(token: string, text: string): void {
    const { state } = this.#inside;
    for (const [line, content] of state.lines.entries()) {
      const at = content.indexOf(token);
      if (at === -1) continue;
      state.lines[line] = content.replaceAll(token, () => text);
      if (state.cursorLine === line && state.cursorCol > at)
        this.#inside.setCursorCol(state.cursorCol + text.length - 1);
    }
    this.#editor.onChange?.("");
  }

  /** Clears the text and the undo. Killed text can still be yanked, so `plain` turns its tokens into text. */
  reset(plain: (text: string) => string): void {
    const inside = this.#inside;
    inside.state = { lines: [""], cursorLine: 0, cursorCol: 0 };
    this.#rows = undefined;
    inside.undoStack.clear();
    inside.lastAction = null;
    inside.killRing.ring = inside.killRing.ring.map(plain);
    this.#goal = undefined;
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

  #splice([first = "", ...more]: readonly string[]): void {
    const { state } = this.#inside;
    const line = state.lines[state.cursorLine] ?? "";
    const before = line.slice(0, state.cursorCol);
    const after = line.slice(state.cursorCol);
    const last = more.at(-1);
    if (last === undefined) {
      state.lines[state.cursorLine] = before + first + after;
      this.#inside.setCursorCol(before.length + first.length);
      return;
    }
    const head = state.lines.slice(0, state.cursorLine);
    const tail = state.lines.slice(state.cursorLine + 1);
    state.lines = head.concat([before + first], more.slice(0, -1), [last + after], tail);
    state.cursorLine += more.length;
    this.#inside.setCursorCol(last.length);
  }
}

function rowOf(rows: readonly Row[], { line, column }: Caret): number {
  const next = rows.findIndex((row) => row.line > line || (row.line === line && row.start > column));
  return (next === -1 ? rows.length : next) - 1;
}

/** Keeps a limited number of states. Lines are immutable strings, so a copy of the list is enough. */
class UndoStack {
  readonly #states: State[] = [];

  push(state: State): void {
    this.#states.push({ ...state, lines: [...state.lines] });
    if (this.#states.length > MAX_UNDO) this.#states.shift();
  }

  pop(): State | undefined {
    return this.#states.pop();
  }

  clear(): void {
    this.#states.length = 0;
  }

  get length(): number {
    return this.#states.length;
  }
}
