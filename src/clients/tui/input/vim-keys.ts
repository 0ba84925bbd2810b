/**
 * The keys of vi for the draft: counts, operators (d c y), motions, text objects, and the commands that change a line.
 *
 * 1. A draft begins in insert mode. Esc leaves it; in normal mode Esc without an unfinished command belongs to the conversation.
 * 2. Keys that type nothing (arrows, Enter, Ctrl and Alt) keep their meaning in both modes.
 */
import type { Key } from "../terminal/terminal.js";
import { segmentsOf } from "./draft-layout.js";
import { typedText } from "./editing-keys.js";
import type { Caret, PromptEditor } from "./prompt-editor.js";

export type VimMode = "insert" | "normal";

type Kind = "blank" | "word" | "other";

/** A visible character, or the end of a line. */
interface Cell extends Caret {
  readonly text: string;
  readonly kind: Kind;
  readonly isBreak?: true;
}

/** Cells from `from` to before `to`, or whole lines. */
interface Range {
  readonly from: number;
  readonly to: number;
  readonly lines?: true;
}

interface Command {
  readonly count: number;
  readonly isCounted: boolean;
  readonly operator: string;
  readonly rest: string;
}

const PAIRS: Readonly<Record<string, readonly [open: string, close: string]>> = {
  ...{ "(": ["(", ")"], ")": ["(", ")"], b: ["(", ")"] },
  ...{ "[": ["[", "]"], "]": ["[", "]"], "{": ["{", "}"], "}": ["{", "}"], B: ["{", "}"] },
  ...{ "<": ["<", ">"], ">": ["<", ">"] },
};
/** They are complete only with the next character. */
const WAITS = /^(?:|[fFtTgr]|[ia])$/;

export class VimKeys {
  readonly #editor: PromptEditor;
  /** Moves by rows, and at the edge through the history. */
  readonly #rows: (direction: -1 | 1) => void;
  mode: VimMode = "insert";
  #typed = "";
  #register = { text: "", lines: false };
  #found: { readonly key: string; readonly char: string } | undefined;
  #cells: readonly Cell[] = [];

  constructor(editor: PromptEditor, rows: (direction: -1 | 1) => void) {
    this.#editor = editor;
    this.#rows = rows;
  }

  /** Another draft begins. */
  reset(): void {
    this.mode = "insert";
    this.#typed = "";
  }

  /** Tells whether Esc is for the draft. */
  get takesEscape(): boolean {
    return this.mode === "insert" ? !this.#editor.isEmpty : this.#typed !== "";
  }

  /** False for a key that keeps its usual meaning. */
  onKey(key: Key): boolean {
    if (key.id === "escape") return this.#escape();
    if (this.mode === "insert") return false;
    const text = key.id === "backspace" ? "h" : typedText(key);
    if (text === undefined) return false;
    this.#typed += text;
    const command = parse(this.#typed);
    if (this.#isComplete(command)) {
      this.#typed = "";
      this.#cells = cellsOf(this.#editor.lines);
      this.#run(command);
      if (this.mode === "normal") this.#stayOnCharacter();
    }
    return true;
  }

  #escape(): boolean {
    if (!this.takesEscape) return false;
    if (this.mode === "insert") {
      this.mode = "normal";
      if (this.#editor.caret.column > 0) this.#editor.move(-1);
    }
    this.#typed = "";
    return true;
  }

  #isComplete({ operator, rest }: Command): boolean {
    if (operator !== "") return !WAITS.test(rest);
    return !/^[fFtTgr]?$/.test(rest);
  }

  /** In normal mode the caret is on a character, not behind the last one. */
  #stayOnCharacter(): void {
    const { line, column } = this.#editor.caret;
    if (column > 0 && column >= (this.#editor.lines[line]?.length ?? 0)) this.#editor.move(-1);
  }

  #run(command: Command): void {
    const { operator, rest, count } = command;
    if (operator !== "") {
      const range = this.#rangeOf(command);
      if (range !== undefined) this.#operate(operator, range);
      return;
    }
    if (rest === "j" || rest === "k") {
      for (let done = 0; done < Math.min(count, 1000); done++) this.#rows(rest === "j" ? 1 : -1);
      return;
    }
    const action = this.#actions[rest[0] ?? ""];
    if (action !== undefined && rest[0] !== "g") action(command);
    else this.#moveTo(this.#motion(command)?.at);
  }

  readonly #actions: Readonly<Record<string, (command: Command) => void>> = {
    i: () => this.#insert(),
    a: () => this.#insert(this.#at + (this.#cells[this.#at]?.isBreak ? 0 : 1)),
    I: () => this.#insert(this.#firstOf(this.#line)),
    A: () => this.#insert(this.#endOf(this.#line)),
    o: () => this.#openLine(this.#endOf(this.#line), 0),
    O: () => this.#openLine(this.#startOf(this.#line), -1),
    x: ({ count }) => this.#operate("d", this.#inLine(this.#at, this.#at + count)),
    X: ({ count }) => this.#operate("d", this.#inLine(this.#at - count, this.#at)),
    s: ({ count }) => this.#operate("c", this.#inLine(this.#at, this.#at + count)),
    S: ({ count }) => this.#operate("c", this.#wholeLines(count)),
    D: () => this.#operate("d", this.#inLine(this.#at, this.#endOf(this.#line))),
    C: () => this.#operate("c", this.#inLine(this.#at, this.#endOf(this.#line))),
    Y: ({ count }) => this.#operate("y", this.#wholeLines(count)),
    p: ({ count }) => this.#put(count, "after"),
    P: ({ count }) => this.#put(count, "before"),
    u: ({ count }) => {
      for (let done = 0; done < Math.min(count, 500); done++) this.#editor.undo();
    },
    r: ({ rest, count }) => this.#replaceCharacters(rest.slice(1), count),
    "~": ({ count }) => this.#changeCase(count),
    J: () => this.#join(),
  };

  get #at(): number {
    const { line, column } = this.#editor.caret;
    const found = this.#cells.findIndex((cell) => cell.line === line && cell.column >= column);
    return Math.max(0, found);
  }

  get #line(): number {
    return this.#editor.caret.line;
  }

  #startOf(line: number): number {
    return this.#cells.findIndex((cell) => cell.line === line);
  }

  /** The cell of the line break. */
  #endOf(line: number): number {
    return this.#cells.findIndex((cell) => cell.line === line && cell.isBreak);
  }

  #firstOf(line: number): number {
    return this.#cells.findIndex((cell) => cell.line === line && (cell.kind !== "blank" || cell.isBreak));
  }

  #inLine(from: number, to: number): Range {
    const line = this.#line;
    return { from: Math.max(from, this.#startOf(line)), to: Math.min(to, this.#endOf(line)) };
  }

  #wholeLines(count: number, first = this.#line): Range {
    const last = Math.min(first + count - 1, this.#editor.lines.length - 1);
    return { from: this.#startOf(first), to: this.#endOf(last), lines: true };
  }

  #moveTo(cell: number | undefined): void {
    const target = cell === undefined ? undefined : this.#cells[cell];
    if (target !== undefined) this.#editor.caret = target;
  }

  #insert(cell?: number): void {
    this.#moveTo(cell);
    this.mode = "insert";
  }

  #openLine(cell: number, by: -1 | 0): void {
    this.#insert(cell);
    this.#editor.newline();
    if (by === -1) this.#editor.move(-1);
  }

  /** Finds the cell that a motion leads to; `whole` includes the character there, `lines` every line up to there. */
  #motion({ rest, count, isCounted }: Command): { at: number; whole?: true; lines?: true } | undefined {
    const line = this.#line;
    const last = this.#cells.length - 1;
    const times = (from: number, step: (at: number) => number) => {
      let at = from;
      for (let done = 0; done < Math.min(count, last + 1); done++) at = step(at);
      return at;
    };
    const toLine = (wanted: number) => {
      const target = Math.max(0, Math.min(wanted, this.#editor.lines.length - 1));
      return { at: this.#firstOf(target), lines: true } as const;
    };
    const kind = (cell: number) => kindFor(this.#cells[cell], /[WBE]/.test(rest));
    switch (rest[0]) {
      case "h":
        return { at: Math.max(this.#at - count, this.#startOf(line)) };
      case "l":
      case " ":
        return { at: Math.min(this.#at + count, this.#endOf(line)) };
      case "0":
        return { at: this.#startOf(line) };
      case "^":
        return { at: this.#firstOf(line) };
      case "$":
        return { at: this.#endOf(Math.min(line + count - 1, this.#editor.lines.length - 1)) };
      case "w":
      case "W":
        return { at: times(this.#at, (at) => this.#nextWord(at, kind)) };
      case "b":
      case "B":
        return { at: times(this.#at, (at) => this.#wordBefore(at, kind)) };
      case "e":
      case "E":
        return { at: times(this.#at, (at) => this.#wordEnd(at, kind)), whole: true };
      case "j":
        return toLine(line + count);
      case "k":
        return toLine(line - count);
      case "G":
        return toLine(isCounted ? count - 1 : this.#editor.lines.length - 1);
      case "g":
        return rest === "gg" ? toLine(isCounted ? count - 1 : 0) : undefined;
      case "f":
      case "F":
      case "t":
      case "T":
        this.#found = { key: rest[0], char: rest.slice(1) };
        return this.#find(this.#found, count);
      case ";":
        return this.#found && this.#find(this.#found, count);
      case ",":
        return this.#found && this.#find({ ...this.#found, key: swapCase(this.#found.key) }, count);
      default:
        return undefined;
    }
  }

  #nextWord(from: number, kind: (cell: number) => Kind): number {
    const last = this.#cells.length - 1;
    let at = from;
    if (kind(at) !== "blank") while (at < last && kind(at) === kind(from)) at++;
    while (at < last && kind(at) === "blank" && !(at > from && this.#isEmptyLine(at))) at++;
    return at;
  }

  #wordBefore(from: number, kind: (cell: number) => Kind): number {
    let at = from - 1;
    while (at > 0 && kind(at) === "blank" && !this.#isEmptyLine(at)) at--;
    while (at > 0 && kind(at) !== "blank" && kind(at - 1) === kind(at)) at--;
    return Math.max(0, at);
  }

  #wordEnd(from: number, kind: (cell: number) => Kind): number {
    const last = this.#cells.length - 1;
    let at = from + 1;
    while (at < last && kind(at) === "blank") at++;
    while (at < last && kind(at + 1) === kind(at) && kind(at) !== "blank") at++;
    return Math.min(at, last);
  }

  #isEmptyLine(cell: number): boolean {
    const { isBreak, column } = this.#cells[cell] ?? {};
    return isBreak === true && column === 0;
  }

  #find({ key, char }: { readonly key: string; readonly char: string }, count: number) {
    const step = key === "f" || key === "t" ? 1 : -1;
    const line = this.#line;
    let at = this.#at;
    for (let left = count; left > 0; left--) {
      do at += step;
      while (this.#cells[at]?.line === line && this.#cells[at]?.text !== char);
      if (this.#cells[at]?.line !== line) return undefined;
    }
    if (key === "t" || key === "T") at -= step;
    return step === 1 ? { at, whole: true as const } : { at };
  }

  #rangeOf(command: Command): Range | undefined {
    const { operator, rest, count } = command;
    if (rest === operator) return this.#wholeLines(count);
    if (/^[ia]./u.test(rest)) return this.#object(rest.slice(1), rest[0] === "a");
    const isOnWord = this.#cells[this.#at]?.kind !== "blank";
    // `cw` leaves the blanks behind the word.
    const meant = operator === "c" && isOnWord && /^[wW]$/.test(rest) ? rest.replace("w", "e").replace("W", "E") : rest;
    const motion = this.#motion({ ...command, rest: meant });
    if (motion === undefined) return undefined;
    const [low, high] = motion.at < this.#at ? [motion.at, this.#at] : [this.#at, motion.at];
    if (motion.lines) {
      const [first = 0, last = 0] = [this.#cells[low]?.line, this.#cells[high]?.line];
      return this.#wholeLines(last - first + 1, first);
    }
    // A word at the end of a line ends there.
    if (/^[wW]$/.test(meant) && this.#cells[high]?.line !== this.#line && count === 1) {
      return { from: low, to: this.#endOf(this.#line) };
    }
    return { from: low, to: Math.min(motion.whole ? high + 1 : high, this.#cells.length - 1) };
  }

  /** `iw`, `aw`, quotation marks in the line, and brackets. */
  #object(name: string, around: boolean): Range | undefined {
    const at = this.#at;
    if (name === "w" || name === "W") {
      const kind = (cell: number) => kindFor(this.#cells[cell], name === "W");
      const isSame = (cell: number) => !this.#cells[cell]?.isBreak && kind(cell) === kind(at);
      let [from, to] = [at, at];
      while (from > 0 && this.#cells[from - 1]?.line === this.#line && isSame(from - 1)) from--;
      while (isSame(to) && this.#cells[to]?.line === this.#line) to++;
      while (around && this.#cells[to]?.kind === "blank" && !this.#cells[to]?.isBreak) to++;
      return { from, to };
    }
    const [open, close] = PAIRS[name] ?? [name, name];
    const [from, to] = open === close ? this.#quoted(open) : this.#bracketed(open, close);
    if (from === undefined || to === undefined) return undefined;
    return around ? { from, to: to + 1 } : { from: from + 1, to };
  }

  #quoted(mark: string): readonly [number?, number?] {
    const [start, end] = [this.#startOf(this.#line), this.#endOf(this.#line)];
    const marks = Array.from({ length: end - start }, (_, index) => start + index).filter(
      (cell) => this.#cells[cell]?.text === mark,
    );
    for (let pair = 0; pair + 1 < marks.length; pair += 2) {
      if ((marks[pair + 1] as number) >= this.#at) return [marks[pair], marks[pair + 1]];
    }
    return [];
  }

  #bracketed(open: string, close: string): readonly [number?, number?] {
    const partner = (step: -1 | 1, own: string, other: string) => {
      let depth = 0;
      for (let at = this.#at; at >= 0 && at < this.#cells.length; at += step) {
        const { text } = this.#cells[at] as Cell;
        if (text === own && depth-- === 0) return at;
        if (text === other && at !== this.#at) depth++;
      }
      return undefined;
    };
    return [partner(-1, open, close), partner(1, close, open)];
  }

  #operate(operator: string, range: Range): void {
    const { from, to, lines } = range;
    const [start, end] = [this.#cells[from], this.#cells[to]];
    if (start === undefined || end === undefined || (from >= to && !lines)) {
      if (operator === "c") this.#insert();
      return;
    }
    const text = this.#cells.slice(from, to).map((cell) => cell.text);
    this.#register = { text: text.join(""), lines: lines === true };
    if (operator === "y") {
      if (!lines) this.#editor.caret = start;
      return;
    }
    if (!lines || operator === "c") this.#editor.replace(start, end, "");
    else this.#deleteLines(start.line, end.line);
    if (operator === "c") this.mode = "insert";
  }

  #deleteLines(first: number, last: number): void {
    const { lines } = this.#editor;
    const isLast = last === lines.length - 1;
    const before = { line: first - 1, column: lines[first - 1]?.length ?? 0 };
    const from = isLast && first > 0 ? before : { line: first, column: 0 };
    const to = isLast ? { line: last, column: lines[last]?.length ?? 0 } : { line: last + 1, column: 0 };
    this.#editor.replace(from, to, "");
    this.#cells = cellsOf(this.#editor.lines);
    this.#moveTo(this.#firstOf(Math.min(first, this.#editor.lines.length - 1)));
  }

  #put(count: number, place: "after" | "before"): void {
    const { text, lines } = this.#register;
    if (text === "" && !lines) return;
    const times = Math.min(count, 100);
    if (lines) {
      const whole = `${text}\n`.repeat(times);
      const line = this.#line;
      const end = this.#cells[this.#endOf(line)] as Cell;
      const start = { line, column: 0 };
      if (place === "before") this.#editor.replace(start, start, whole);
      else this.#editor.replace(end, end, `\n${whole.slice(0, -1)}`);
      this.#editor.caret = { line: place === "before" ? line : line + 1, column: 0 };
      return;
    }
    const isAtBreak = this.#cells[this.#at]?.isBreak;
    const at = this.#cells[this.#at + (place === "after" && !isAtBreak ? 1 : 0)] as Cell;
    this.#editor.replace(at, at, text.repeat(times));
    this.#editor.move(-1);
  }

  #replaceCharacters(text: string, count: number): void {
    const { from, to } = this.#inLine(this.#at, this.#at + count);
    if (to - from < count) return;
    this.#editor.replace(this.#cells[from] as Cell, this.#cells[to] as Cell, text.repeat(count));
    this.#editor.move(-1);
  }

  #changeCase(count: number): void {
    const { from, to } = this.#inLine(this.#at, this.#at + count);
    if (from >= to) return;
    const text = this.#cells.slice(from, to).map((cell) => swapCase(cell.text));
    this.#editor.replace(this.#cells[from] as Cell, this.#cells[to] as Cell, text.join(""));
  }

  #join(): void {
    const line = this.#line;
    const next = this.#editor.lines[line + 1];
    if (next === undefined) return;
    const end = this.#cells[this.#endOf(line)] as Cell;
    const blanks = next.length - next.trimStart().length;
    this.#editor.replace(end, { line: line + 1, column: blanks }, end.column === 0 || next.trim() === "" ? "" : " ");
    this.#editor.caret = end;
  }
}

function parse(typed: string): Command {
  const [, first = "", operator = "", second = "", rest = ""] =
    /^([1-9]\d*)?(?:([dcy])([1-9]\d*)?)?([\s\S]*)$/.exec(typed) ?? [];
  const count = (Number(first) || 1) * (Number(second) || 1);
  return { count, isCounted: first !== "" || second !== "", operator, rest };
}

function cellsOf(lines: readonly string[]): readonly Cell[] {
  return lines.flatMap((text, line) => [
    ...segmentsOf(text).map(
      ({ segment, index }): Cell => ({ line, column: index, text: segment, kind: kindOf(segment) }),
    ),
    { line, column: text.length, text: "\n", kind: "blank", isBreak: true } as const,
  ]);
}

function kindOf(text: string): Kind {
  if (/^\s/.test(text)) return "blank";
  return /^[\p{L}\p{N}\p{M}_]/u.test(text) ? "word" : "other";
}

function kindFor(cell: Cell | undefined, isBig: boolean): Kind {
  const { kind = "blank" } = cell ?? {};
  return isBig && kind === "other" ? "word" : kind;
}

function swapCase(text: string): string {
  return text === text.toLowerCase() ? text.toUpperCase() : text.toLowerCase();
}
