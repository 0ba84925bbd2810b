/** Recognises what a line of Markdown begins. */

export interface ListMarker {
  /** The bullet, or the sign after the number. */
  readonly sign: string;
  /** Undefined for a bullet. */
  readonly number: number | undefined;
  /** Columns up to the text of the item. */
  readonly indent: number;
  readonly rest: string;
}

export function listMarker(line: string): ListMarker | undefined {
  const found = /^( *)([-+*]|(\d{1,9})([.)]))( +|$)/.exec(line);
  if (found === null || isRule(line)) return undefined;
  const [whole, lead = "", marker = "", digits, delimiter, spaces = ""] = found;
  const rest = line.slice(whole.length);
  // Five or more spaces are one space and indented code.
  const gap = rest === "" || spaces.length > 4 ? 1 : spaces.length;
  return {
    sign: delimiter ?? marker,
    number: digits === undefined ? undefined : Number(digits),
    indent: lead.length + marker.length + gap,
    rest: spaces.length > 4 ? " ".repeat(spaces.length - 1) + rest : rest,
  };
}

export function isRule(line: string): boolean {
  return /^ {0,3}(?:(?:\* *){3,}|(?:- *){3,}|(?:_ *){3,})$/.test(line);
}

export function heading(line: string): { level: number; text: string } | undefined {
  const found = /^ {0,3}(#{1,6})(?: +(.*))?$/.exec(line);
  if (found === null) return undefined;
  const text = (found[2] ?? "").replace(/(?:^| )#+ *$/, "").trim();
  return { level: (found[1] as string).length, text };
}

/** `===` or `---` below one line of text. */
export function underline(line: string): number | undefined {
  if (/^ {0,3}=+ *$/.test(line)) return 1;
  return /^ {0,3}-+ *$/.test(line) ? 2 : undefined;
}

export interface Fence {
  readonly char: string;
  readonly length: number;
  readonly indent: number;
  readonly language: string;
}

export function fenceStart(line: string): Fence | undefined {
  const found = /^( {0,3})(`{3,}|~{3,})\s*(.*)$/.exec(line);
  if (found === null) return undefined;
  const [, lead = "", marks = "", info = ""] = found;
  const char = marks[0] as string;
  if (char === "`" && info.includes("`")) return undefined;
  return { char, length: marks.length, indent: lead.length, language: languageOf(info) };
}

/** `ts title="a"`, `{.python}`, `js{1,3}`: the first word of letters. */
function languageOf(info: string): string {
  return /[A-Za-z][A-Za-z0-9+#_.-]*/.exec(info.split(/\s/, 1)[0] ?? "")?.[0]?.toLowerCase() ?? "";
}

export function endsFence({ char, length }: Fence, line: string): boolean {
  const found = /^ {0,3}(`{3,}|~{3,}) *$/.exec(line)?.[1];
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

export function quoted(line: string): string | undefined {
  return /^ {0,3}> ?(.*)$/.exec(line)?.[1];
}

export function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
