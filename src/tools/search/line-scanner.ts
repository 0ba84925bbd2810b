/** Matching lines of one text with their context, as ripgrep would report them. */
import { clipLine, type FoundLine, type SearchRequest } from "./search-request.js";

export interface Expressions {
  /** Matched against single lines, or against whole texts in a multiline search. */
  readonly match: RegExp;
  /** Matched against whole texts first: most of them have no matching line. */
  readonly hint: RegExp;
}

type Settings = Pick<SearchRequest, "mode" | "context" | "limit">;

/** Takes a file in pieces that end at line ends. */
export class LineScanner {
  readonly #expressions: Expressions;
  readonly #settings: Settings;
  readonly #lines: FoundLine[] = [];
  #before: FoundLine[] = [];
  #after = 0;
  #number = 0;
  #count = 0;

  constructor(expressions: Expressions, settings: Settings) {
    this.#expressions = expressions;
    this.#settings = settings;
  }

  get count(): number {
    return this.#count;
  }

  get lines(): readonly FoundLine[] {
    return this.#lines;
  }

  scan(piece: string): void {
    this.#expressions.hint.lastIndex = 0;
    const mayMatch = this.#expressions.hint.test(piece);
    const lines = splitLines(piece);
    if (!mayMatch && this.#after === 0) {
      this.#skip(lines);
      return;
    }
    for (const line of lines) this.#line(line);
  }

  #line(line: string): void {
    this.#number++;
    const { match } = this.#expressions;
    match.lastIndex = 0;
    const found = match.exec(line);
    if (found !== null) {
      this.#count++;
      if (this.#keeps) this.#keep(line, found.index);
      else this.#after = 0;
    } else if (this.#after > 0) {
      this.#after--;
      this.#lines.push({ number: this.#number, text: clipLine(line, 0), isMatch: false });
    } else {
      this.#remember(line);
    }
  }

  get #keeps(): boolean {
    return this.#settings.mode === "content" && this.#count <= this.#settings.limit;
  }

  #keep(line: string, column: number): void {
    this.#lines.push(...this.#before, { number: this.#number, text: clipLine(line, column), isMatch: true });
    this.#before = [];
    this.#after = this.#settings.context;
  }

  #remember(line: string): void {
    if (this.#settings.context === 0 || this.#settings.mode !== "content") return;
    this.#before.push({ number: this.#number, text: clipLine(line, 0), isMatch: false });
    if (this.#before.length > this.#settings.context) this.#before.shift();
  }

  #skip(lines: readonly string[]): void {
    const { context } = this.#settings;
    this.#number += Math.max(0, lines.length - context);
    for (const line of lines.slice(Math.max(0, lines.length - context))) {
      this.#number++;
      this.#remember(line);
    }
  }
}

/** Matches anywhere in a whole text; a match may span lines. */
export function scanText(text: string, match: RegExp, settings: Settings): Scan {
  const starts = lineStarts(text);
  // The column of the first match, for each matching line.
  const matched = new Map<number, number>();
  const hasOpenLine = text !== "" && !text.endsWith("\n");
  let count = 0;
  match.lastIndex = 0;
  for (let found = match.exec(text); found !== null; found = match.exec(text)) {
    // An empty match after the last character: ripgrep does not count it, and it belongs to a line only if that has no line end.
    const isBehind = found[0] === "" && found.index === text.length;
    if (isBehind && (settings.mode !== "content" || !hasOpenLine)) break;
    count++;
    const from = found.index;
    // A line end that closes the match belongs to its line.
    const last = lineAt(starts, Math.max(from, from + found[0].length - 1));
    for (let line = lineAt(starts, from); line <= last; line++) {
      if (!matched.has(line)) matched.set(line, Math.max(0, from - (starts[line] as number)));
    }
    if (found[0] === "") match.lastIndex++;
  }
  if (settings.mode !== "content") return { count, lines: [] };
  return { count: matched.size, lines: withContext(text, { starts, matched, settings }) };
}

export interface Scan {
  readonly count: number;
  readonly lines: readonly FoundLine[];
}

function lineText(text: string, starts: readonly number[], line: number): string {
  const end = line + 1 < starts.length ? (starts[line + 1] as number) - 1 : text.length;
  return withoutReturn(text.slice(starts[line], end));
}

function withContext(
  text: string,
  {
    starts,
    matched,
    settings,
  }: { starts: readonly number[]; matched: ReadonlyMap<number, number>; settings: Settings },
): readonly FoundLine[] {
  const lines: FoundLine[] = [];
  const lastLine = text.endsWith("\n") ? starts.length - 2 : starts.length - 1;
  const wanted = [...matched.keys()].sort((a, b) => a - b).slice(0, settings.limit);
  let next = 0;
  for (const line of wanted) {
    const from = Math.max(next, line - settings.context);
    for (let each = from; each <= Math.min(line + settings.context, lastLine); each++) {
      const isMatch = matched.has(each);
      // Context after a match ends where the next match begins its own.
      if (each > line && isMatch) break;
      lines.push({ number: each + 1, text: clipLine(lineText(text, starts, each), matched.get(each) ?? 0), isMatch });
      next = each + 1;
    }
  }
  return lines;
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** The line of an offset, by binary search. */
function lineAt(starts: readonly number[], place: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] as number) <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}

export function splitLines(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map(withoutReturn);
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
