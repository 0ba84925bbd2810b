/**
 * Breaks spans into lines by display width.
 *
 * 1. No line exceeds the width, and none ends in a space.
 * 2. A line breaks at spaces, before and after wide characters, then at the joints of a URL or path, else anywhere.
 * 3. The time is linear in the text.
 * 4. Soft rows are cut where the terminal itself would cut the line, and marked, so that it stays one line in the scrollback.
 */
import { characters, characterWidth, expandTabs, textWidth } from "../../../base/text-width.js";
import { CONTINUED } from "../terminal/fit-line.js";
import type { Theme } from "../theme.js";
import { withLinks } from "./links.js";
import { ELLIPSIS } from "./marks.js";
import { paintSpan, plainText, type Span } from "./spans.js";

interface Range {
  readonly start: number;
  readonly end: number;
}

const PRINTABLE = /^[\x20-\x7e]*$/;
/** Printable, and neither empty nor with a space at its end. */
const SHORT = /^[\x20-\x7e]*[\x21-\x7e]$/;
/** A colour that ends where another begins, with nothing visible between. Both come from the theme, because text contains no escapes. */
const COLOUR_END = "\u001b[39m";
const BACKGROUND_END = "\u001b[49m";
/** The next background replaces the one that ends. */
const BETWEEN_BACKGROUNDS = /\x1b\[49m(?=(?:\x1b\[[\d;]+m)*\x1b\[(?:[\d;]+;)?48;[\d;]+m)/g;
const BETWEEN_COLOURS = /\x1b\[39m( *)(?=\x1b\[(?:3[0-7]|38;[\d;]+)m)/g;
/** Where a long word may break, after the character. */
const JOINTS = new Set("/?&=#._-,;:|");
/** These do not start a line. */
const CLOSING = new Set("、。，．：；！？）］｝」』】〉》〕…ー々ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ,.!?;:)]}");
/** These do not end one. */
const OPENING = new Set("（［｛「『【〈《〔([{");
/** Many marks without width still end a line. */
const UNITS_PER_CELL = 16;

export interface WrapOptions {
  readonly width: number;
  readonly theme: Theme;
  /** The painted prefix of the first line. */
  readonly first?: Prefix;
  /** The prefix of the other lines. */
  readonly rest?: Prefix;
  /** `words` for prose, `anywhere` for code. */
  readonly at?: "words" | "anywhere";
  /** Leaves long lines to the terminal's own wrap. Only for lines without prefixes. */
  readonly soft?: boolean | undefined;
}

export interface Prefix {
  readonly text: string;
  readonly width: number;
}

const LEAST_TEXT = 2;
const NONE: Prefix = { text: "", width: 0 };

/** Painted lines. A newline in a span starts a new line. */
export function wrapSpans(spans: readonly Span[], options: WrapOptions): string[] {
  const { theme, soft = false, at = soft ? "anywhere" : "words" } = options;
  const { first, rest, width } = room(options);
  const shown = theme.links ? withLinks(spans) : spans;
  const lines: string[] = [];
  for (const line of splitLines(shown)) {
    const [only] = line;
    // Most lines of output are short and have one style.
    if (line.length === 1 && only !== undefined && only.text.length <= width && SHORT.test(only.text)) {
      lines.push((lines.length === 0 ? first : rest).text + paintSpan(only, theme));
      continue;
    }
    const expanded = line.some(({ text }) => text.includes("\t")) ? withoutTabs(line) : line;
    const text = plainText(expanded);
    const ranges = breakLine(text, width, at);
    if (soft) {
      for (const [index, { start }] of ranges.entries()) {
        // Blanks at the end of a row belong to the line.
        const end = ranges[index + 1]?.start ?? text.length;
        const painted = paintRange(expanded, { start, end }, { theme, width });
        lines.push(index === 0 ? painted : CONTINUED + painted);
      }
      continue;
    }
    for (const range of ranges) {
      const before = lines.length === 0 ? first : rest;
      const painted = paintRange(expanded, range, { theme, width });
      lines.push(painted === "" ? withoutTrailing(before.text) : before.text + painted);
    }
  }
  return lines;
}

/** A prefix that leaves no room for text is left out. */
function room({ width, first = NONE, rest = NONE }: WrapOptions) {
  const left = width - Math.max(first.width, rest.width);
  return left < LEAST_TEXT ? { first: NONE, rest: NONE, width: Math.max(1, width) } : { first, rest, width: left };
}

/** One line, cut with `…` where it does not fit. */
export function clipSpans(spans: readonly Span[], { width, theme }: { width: number; theme: Theme }): string {
  const text = plainText(spans);
  const shown = clipText(text, width);
  if (shown === text) return paintRange(spans, { start: 0, end: trimmedEnd(text, 0, text.length) }, { theme, width });
  const mark = ELLIPSIS.slice(0, Math.max(0, width));
  return paintRange(spans, { start: 0, end: shown.length - mark.length }, { theme, width }) + mark;
}

/** The same for text without styles. */
export function clipText(text: string, width: number): string {
  // No more than this can fit.
  const most = width * UNITS_PER_CELL + 64;
  if (text.length <= most && textWidth(text) <= width) return text;
  const mark = ELLIPSIS.slice(0, Math.max(0, width));
  let used = 0;
  let end = 0;
  for (const character of characters(text.slice(0, most))) {
    used += characterWidth(character);
    if (used > width - mark.length) break;
    end += character.length;
  }
  return text.slice(0, trimmedEnd(text, 0, end)) + mark;
}

/** Spans per line of the text. */
export function splitLines(spans: readonly Span[]): Span[][] {
  const lines: Span[][] = [[]];
  for (const each of spans) {
    if (!each.text.includes("\n")) {
      lines.at(-1)?.push(each);
      continue;
    }
    for (const [index, text] of each.text.split("\n").entries()) {
      if (index > 0) lines.push([]);
      if (text !== "") lines.at(-1)?.push({ ...each, text });
    }
  }
  return lines;
}

/** Removes the last space, which is inside the style, from a mark without text. */
function withoutTrailing(painted: string): string {
  return painted.replace(/ +((?:\x1b\[[\d;]*m)*)$/, "$1").trimEnd();
}

function withoutTabs(line: readonly Span[]): Span[] {
  // A tab goes to the next stop, which depends on the text before it.
  let before = "";
  return line.map((each) => {
    const whole = expandTabs(before + each.text);
    const text = whole.slice(before.length);
    before = whole;
    return { ...each, text };
  });
}

function paintRange(
  spans: readonly Span[],
  { start, end }: Range,
  { theme, width }: { theme: Theme; width: number },
): string {
  let out = "";
  let from = 0;
  for (const each of spans) {
    const to = from + each.text.length;
    if (to > start && from < end) {
      const text = each.text.slice(Math.max(0, start - from), Math.min(each.text.length, end - from));
      out += paintSpan({ ...each, text: width < 2 ? narrowed(text) : text }, theme);
    }
    if (to >= end) break;
    from = to;
  }
  const joined = out.includes(BACKGROUND_END) ? out.replace(BETWEEN_BACKGROUNDS, "") : out;
  return joined.includes(COLOUR_END) ? joined.replace(BETWEEN_COLOURS, "$1") : joined;
}

/** One column has no room for a wide character. */
function narrowed(text: string): string {
  return Array.from(characters(text), (character) => (characterWidth(character) > 1 ? "?" : character)).join("");
}

/** The parts of one line that become separate lines. */
export function breakLine(text: string, width: number, at: "words" | "anywhere" = "words"): Range[] {
  const length = trimmedEnd(text, 0, text.length);
  if (length <= width && PRINTABLE.test(text)) return [{ start: 0, end: length }];
  const line = new LineBreaker(text, width, at);
  if (PRINTABLE.test(text)) for (let index = 0; index < length; index++) line.add(text[index] as string, 1);
  else for (const character of characters(text.slice(0, length))) line.add(character, characterWidth(character));
  return line.ranges();
}

class LineBreaker {
  readonly #text: string;
  readonly #width: number;
  readonly #at: "words" | "anywhere";
  readonly #ranges: Range[] = [];
  #start = 0;
  #position = 0;
  #used = 0;
  /** The last place to break well: the line's end, where the next one starts, and the cells up to there. */
  #good: { end: number; next: number; used: number } | undefined;
  #joint: { at: number; used: number } | undefined;
  #previous = "";
  #previousWidth = 0;
  /** A line does not break in its indentation. */
  #hasWord = false;

  constructor(text: string, width: number, at: "words" | "anywhere") {
    this.#text = text;
    this.#width = width;
    this.#at = at;
  }

  add(character: string, cells: number): void {
    const isSpace = character === " ";
    if (this.#at === "words" && !isSpace) this.#noteWideBreak(character, cells);
    // Spaces may exceed the width: they are not printed there.
    const hangs = isSpace && this.#at === "words";
    while (!hangs && this.#used + cells > this.#width && this.#position > this.#start) this.#break();
    if (this.#position + character.length - this.#start > this.#width * UNITS_PER_CELL + 64) this.#break();
    this.#position += character.length;
    this.#used += cells;
    if (this.#at === "anywhere") return;
    if (isSpace) this.#noteSpace();
    else {
      this.#hasWord = true;
      if (JOINTS.has(character)) this.#joint = { at: this.#position, used: this.#used };
    }
    this.#previous = character;
    this.#previousWidth = cells;
  }

  ranges(): Range[] {
    this.#ranges.push({ start: this.#start, end: trimmedEnd(this.#text, this.#start, this.#position) });
    return this.#ranges;
  }

  #noteSpace(): void {
    if (!this.#hasWord) return;
    const end = this.#previous === " " && this.#good !== undefined ? this.#good.end : this.#position - 1;
    this.#good = { end, next: this.#position, used: this.#used };
  }

  /** A break between two characters, one of them wide. */
  #noteWideBreak(character: string, cells: number): void {
    if (!this.#hasWord || this.#previous === " " || (cells < 2 && this.#previousWidth < 2)) return;
    if (CLOSING.has(character) || OPENING.has(this.#previous)) return;
    this.#good = { end: this.#position, next: this.#position, used: this.#used };
  }

  #break(): void {
    const { at, used } = this.#joint ?? { at: 0, used: 0 };
    const isFar = used * 2 >= this.#width;
    const within = isFar ? { end: at, next: at, used } : undefined;
    const chosen = this.#good ?? within ?? { end: this.#position, next: this.#position, used: this.#used };
    this.#ranges.push({ start: this.#start, end: trimmedEnd(this.#text, this.#start, chosen.end) });
    const kept = this.#joint !== undefined && this.#joint.at > chosen.next ? this.#joint : undefined;
    this.#start = chosen.next;
    this.#used -= chosen.used;
    this.#joint = kept === undefined ? undefined : { at: kept.at, used: kept.used - chosen.used };
    this.#good = undefined;
    this.#hasWord = this.#start < this.#position;
  }
}

function trimmedEnd(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && text.charCodeAt(at - 1) === 0x20) at--;
  return at;
}
