/**
 * Measures, cuts and wraps text by terminal cells.
 *
 * 1. Input has passed `safeText`: no control characters except tab and newline. A tab counts as one cell here; `wrapText` expands it.
 * 2. Where terminals disagree (joined emoji, ambiguous width), it counts like newer ones. A caller that must not exceed the width
 *    turns the terminal's own wrapping off.
 */
const ASCII = /^[\t\x20-\x7e]*$/;
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]$/u;
const WIDE =
  /^[\p{Emoji_Presentation}\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18df2}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]$/u;
const PICTURE = /\p{Extended_Pictographic}|\p{Regional_Indicator}/u;

const TAB = 4;
/** The segmenter takes quadratic time, so it gets a little text at a time. */
const WINDOW = 512;
/** Created on demand, because the first one of a process takes 20 ms. */
let segmenter: Intl.Segmenter | undefined;

function segments(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return segmenter.segment(text);
}

/** Latin, Greek, Cyrillic, Kana, Han and Hangul without combining characters: every code unit is a character. */
const SIMPLE =
  /^[\x20-\x7e\xa0-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e\u2190-\u25ff\u3000-\u3029\u3030-\u3098\u309b-\u9fff\uac00-\ud7a3\uff01-\uff60]*$/;

/** Tells what a user sees as characters. */
export function* characters(text: string): Iterable<string> {
  for (let from = 0; from < text.length; ) {
    const end = from + WINDOW + (isHigh(text.charCodeAt(from + WINDOW - 1)) ? 1 : 0);
    const window = text.slice(from, end);
    const found = SIMPLE.test(window) ? window.split("") : Array.from(segments(window), (each) => each.segment);
    // The last one may continue in the next window.
    if (end < text.length && found.length > 1) found.pop();
    yield* found;
    from += found.reduce((length, character) => length + character.length, 0);
  }
}

/** The first half of a pair: the window must not end between the two. */
function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

export function textWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const character of characters(text)) width += characterWidth(character);
  return width;
}

export function characterWidth(character: string): number {
  if (character.length === 1) return pointWidth(character);
  const points = Array.from(character, pointWidth);
  // One emoji, however many code points it consists of.
  if (PICTURE.test(character)) return points.length > 1 ? 2 : (points[0] ?? 0);
  return points.reduce((sum, width) => sum + width, 0);
}

/** A text uses few different characters, and looking up their properties is slow. */
const widths = new Map<string, number>();
const MAX_WIDTHS = 20_000;

function pointWidth(point: string): number {
  const known = widths.get(point);
  if (known !== undefined) return known;
  const width = ZERO.test(point) ? 0 : WIDE.test(point) ? 2 : 1;
  if (widths.size >= MAX_WIDTHS) widths.clear();
  widths.set(point, width);
  return width;
}

/** At most `width` cells; cut text ends in `…`. */
export function truncateText(text: string, width: number): string {
  if (width <= 0) return "";
  if (textWidth(text) <= width) return text;
  return `${headOf(text, width - 1)}…`;
}

/** The longest beginning of whole characters that fits. */
function headOf(text: string, width: number): string {
  let used = 0;
  let end = 0;
  for (const character of characters(text)) {
    used += characterWidth(character);
    if (used > width) break;
    end += character.length;
  }
  return text.slice(0, end);
}

export type Alignment = "left" | "right";

export function padText(text: string, width: number, align: Alignment = "left"): string {
  const space = " ".repeat(Math.max(0, width - textWidth(text)));
  return align === "left" ? text + space : space + text;
}

/**
 * Lines of at most `width` cells, broken at spaces where there are any, else anywhere. A character wider than the line
 * becomes `?`, so that even a single column shows text.
 */
export function wrapText(text: string, width: number): string[] {
  return text.split("\n").flatMap((line) => wrapLine(line, Math.max(1, width)));
}

export function wrapLine(line: string, width: number): string[] {
  const expanded = expandTabs(line);
  if (ASCII.test(expanded) ? expanded.length <= width : textWidth(expanded) <= width) return [expanded];
  return ASCII.test(expanded) ? wrapAscii(expanded, width) : wrapWide(expanded, width);
}

export function expandTabs(line: string): string {
  if (!line.includes("\t")) return line;
  let out = "";
  let column = 0;
  for (const [position, part] of line.split("\t").entries()) {
    if (position > 0) {
      const fill = TAB - (column % TAB);
      out += " ".repeat(fill);
      column += fill;
    }
    out += part;
    column += textWidth(part);
  }
  return out;
}

function wrapAscii(line: string, width: number): string[] {
  const lines: string[] = [];
  let from = 0;
  while (line.length - from > width) {
    // The text may also break at a space right after the last cell.
    const space = line.lastIndexOf(" ", from + width);
    const atSpace = space > from && line.slice(from, space).trim() !== "";
    const to = atSpace ? space : from + width;
    lines.push(line.slice(from, to).trimEnd());
    from = atSpace ? space + 1 : to;
  }
  lines.push(line.slice(from));
  return lines;
}

function wrapWide(line: string, width: number): string[] {
  const lines: string[] = [];
  let current: { text: string; width: number }[] = [];
  let used = 0;
  for (const character of characters(line)) {
    const natural = characterWidth(character);
    const cell = natural > width ? { text: "?", width: 1 } : { text: character, width: natural };
    if (used + cell.width > width) {
      const rest = cell.text === " " ? [] : breakAtSpace(current);
      lines.push(joined(current.slice(0, current.length - rest.length)).trimEnd());
      current = rest;
      used = rest.reduce((sum, each) => sum + each.width, 0);
      if (cell.text === " ") continue;
    }
    current.push(cell);
    used += cell.width;
  }
  lines.push(joined(current));
  return lines;
}

/** The cells after the last space, which move to the next line; none if there is no word before that space. */
function breakAtSpace(cells: readonly { text: string; width: number }[]): { text: string; width: number }[] {
  const space = cells.findLastIndex((cell) => cell.text === " ");
  const before = cells.slice(0, Math.max(0, space));
  return before.some((cell) => cell.text !== " " && cell.width > 0) ? cells.slice(space + 1) : [];
}

function joined(cells: readonly { text: string }[]): string {
  return cells.map((cell) => cell.text).join("");
}
