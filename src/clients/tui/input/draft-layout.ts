/**
 * The positions of a draft's characters on the screen: rows broken at words by display width, and cells of whole characters. Each line
 * is laid out once, so that the cost of a key does not depend on the length of the draft.
 */
import { safeLine } from "../../../base/terminal-text.js";
import { characters, textWidth, truncateText } from "../../../base/text-width.js";

/** A part of a line that fits into one row: code units from `start` to `end`. */
export interface Row {
  readonly line: number;
  readonly start: number;
  readonly end: number;
}

export interface Cell {
  readonly index: number;
  readonly length: number;
  readonly text: string;
  readonly width: number;
  /** It shows an attachment. */
  readonly token: boolean;
}

interface LaidOut {
  readonly breaks: readonly { readonly start: number; readonly end: number }[];
}

const MAX_CACHED = 50_000;
const PLAIN = /^[\x20-\x7e]*$/;
const TAB = "    ";

export class DraftLayout {
  readonly #label: (token: string) => string | undefined;
  readonly #lines = new Map<string, LaidOut>();
  #width = 0;

  constructor(label: (token: string) => string | undefined) {
    this.#label = label;
  }

  /** Call it after the attachments changed. */
  forget(): void {
    this.#lines.clear();
  }

  rows(lines: readonly string[], width: number): Row[] {
    if (width !== this.#width || this.#lines.size > MAX_CACHED) this.#lines.clear();
    this.#width = width;
    const rows: Row[] = [];
    for (const [line, text] of lines.entries()) {
      for (const { start, end } of this.#layOut(text).breaks) rows.push({ line, start, end });
    }
    return rows;
  }

  /** The characters of one row as they are shown. */
  cells(text: string, { start, end }: { readonly start: number; readonly end: number }): Cell[] {
    return segmentsOf(text.slice(start, end)).map(({ segment, index }) => this.#cell(segment, start + index));
  }

  #layOut(text: string): LaidOut {
    const known = this.#lines.get(text);
    if (known !== undefined) return known;
    const short = PLAIN.test(text) && text.length <= this.#width;
    const breaks = short ? [{ start: 0, end: text.length }] : this.#breakLine(text);
    this.#lines.set(text, { breaks });
    return { breaks };
  }

  #breakLine(text: string): { start: number; end: number }[] {
    const breaks: { start: number; end: number }[] = [];
    let start = 0;
    let used = 0;
    /** Where the row may end, and the width up to there. */
    let chance: { readonly at: number; readonly width: number } | undefined;
    let afterSpace = false;
    for (const { segment, index } of segmentsOf(text)) {
      const space = /^\s/.test(segment);
      if (afterSpace && !space) chance = { at: index, width: used };
      const { width } = this.#cell(segment, index);
      if (used + width > this.#width && index > start) {
        const fits = chance !== undefined && used - chance.width + width <= this.#width;
        const at = chance !== undefined && fits ? chance.at : index;
        used = chance !== undefined && fits ? used - chance.width : 0;
        breaks.push({ start, end: at });
        start = at;
        chance = undefined;
      }
      used += width;
      afterSpace = space;
    }
    breaks.push({ start, end: text.length });
    return breaks;
  }

  #cell(segment: string, index: number): Cell {
    const { length } = segment;
    const label = this.#label(segment);
    if (label !== undefined) {
      const text = truncateText(label, Math.max(1, this.#width));
      return { index, length, text, width: textWidth(text), token: true };
    }
    if (segment === "\t") return { index, length, text: TAB, width: TAB.length, token: false };
    const text = length === 1 && segment >= " " && segment <= "~" ? segment : safeLine(segment);
    const width = textWidth(text);
    if (width > this.#width) return { index, length, text: "?", width: 1, token: false };
    return { index, length, text, width, token: false };
  }
}

interface Segment {
  readonly segment: string;
  readonly index: number;
}

/** The visible characters with their positions. */
export function segmentsOf(text: string): Segment[] {
  const found: Segment[] = [];
  let index = 0;
  for (const segment of characters(text)) {
    found.push({ segment, index });
    index += segment.length;
  }
  return found;
}
