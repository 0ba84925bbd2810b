/** Recognises what a line of Markdown begins. */

export interface ListMarker {
  /** The bullet, or the sign after the number. */
  readonly sign: string;
  /** Undefined for a bullet. */
  readonly number: number | undefined;
  /** Columns up to the text of the item. */
  readonly indent: number;
  readonly isEmpty: boolean;
}

export function listMarker(line: string): ListMarker | undefined {
  const found = /^( *)([-+*]|(\d{1,9})([.)]))( +|$)/.exec(line);
  if (found === null || isRule(line)) return undefined;
  const [whole, lead = "", marker = "", digits, delimiter, spaces = ""] = found;
  const isEmpty = whole.length === line.length;
  // Five or more spaces are one space and indented code.
  const gap = isEmpty || spaces.length > 4 ? 1 : spaces.length;
  return {
    sign: delimiter ?? marker,
    number: digits === undefined ? undefined : Number(digits),
    indent: lead.length + marker.length + gap,
    isEmpty,
  };
}

export function isRule(line: string): boolean {
  return /^ {0,3}(?:(?:\* *){3,}|(?:- *){3,}|(?:_ *){3,})$/.test(line);
}

export function isHeading(line: string): boolean {
  return /^ {0,3}#{1,6}(?: |$)/.test(line);
}

/** `===` or `---` below text. */
export function isUnderline(line: string): boolean {
  return /^ {0,3}(?:=+|-+) *$/.test(line);
}

export function isQuote(line: string): boolean {
  return /^ {0,3}>/.test(line);
}

export interface Fence {
  readonly char: string;
  readonly length: number;
  readonly indent: number;
  readonly language: string;
}

/** A fence at the beginning of the line, or of the text of a list item. */
export function fenceStart(line: string): Fence | undefined {
  const found = /^( *)(`{3,}|~{3,})\s*(.*)$/.exec(line);
  if (found === null) return undefined;
  const [, lead = "", marks = "", info = ""] = found;
  const char = marks[0] as string;
  if (char === "`" && info.includes("`")) return undefined;
  return { char, length: marks.length, indent: lead.length, language: languageOf(info) };
}

/** `ts title="a"`, `{.python}`, `js{1,3}`: the first word of letters. */
export function languageOf(info: string): string {
  return /[A-Za-z][A-Za-z0-9+#_.-]*/.exec(info.split(/\s/, 1)[0] ?? "")?.[0]?.toLowerCase() ?? "";
}

export function endsFence({ char, length }: Fence, line: string): boolean {
  const found = /^ *(`{3,}|~{3,}) *$/.exec(line)?.[1];
  return found !== undefined && found[0] === char && found.length >= length;
}

export type Align = "left" | "right" | "center";

/** The line below the head of a table. */
export function tableRule(line: string): readonly Align[] | undefined {
  if (!line.includes("|") || !/^[ |:-]*$/.test(line) || !line.includes("-")) return undefined;
  const cells = tableCells(line);
  if (!cells.every((cell) => /^:?-+:?$/.test(cell))) return undefined;
  return cells.map((cell) => {
    if (!cell.endsWith(":")) return "left";
    return cell.startsWith(":") ? "center" : "right";
  });
}

/** Cells between the bars. A bar after a backslash or inside code is text. */
export function tableCells(line: string): string[] {
  const cells: string[] = [];
  const trimmed = line.trim();
  let cell = "";
  let ticks = "";
  for (let at = trimmed.startsWith("|") ? 1 : 0; at < trimmed.length; at++) {
    const char = trimmed[at] as string;
    if (char === "\\" && trimmed[at + 1] === "|") {
      cell += "|";
      at++;
    } else if (char === "`") {
      let end = at;
      while (trimmed[end] === "`") end++;
      const run = trimmed.slice(at, end);
      if (ticks === run) ticks = "";
      else if (ticks === "" && trimmed.includes(run, end)) ticks = run;
      cell += run;
      at = end - 1;
    } else if (char === "|" && ticks === "") {
      cells.push(cell.trim());
      cell = "";
    } else cell += char;
  }
  if (cell.trim() !== "" || cells.length === 0) cells.push(cell.trim());
  return cells;
}

export function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** Whether the line ends a paragraph, because it begins another block. */
export function startsBlock(line: string): boolean {
  if (isRule(line) || isHeading(line) || isQuote(line)) return true;
  if (indentOf(line) < 4 && fenceStart(line) !== undefined) return true;
  // In the middle of a paragraph, a number or an empty bullet is text.
  const marker = listMarker(line);
  return marker !== undefined && !marker.isEmpty && (marker.number === undefined || marker.number === 1);
}

export function withoutLeadingTabs(line: string): string {
  const lead = /^[ \t]*\t[ \t]*/.exec(line)?.[0];
  if (lead === undefined) return line;
  let column = 0;
  for (const char of lead) column += char === "\t" ? 4 - (column % 4) : 1;
  return " ".repeat(column) + line.slice(lead.length);
}
