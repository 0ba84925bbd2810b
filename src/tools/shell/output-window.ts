/**
 * The beginning and the end of an output of any length, in bounded memory.
 *
 * 1. The head keeps the first bytes, and a ring buffer keeps the newest ones.
 * 2. Up to WINDOW_BYTES nothing is lost, and `whole` returns all of it.
 */
import { lineBreaks } from "../../base/cap-text.js";
import { groupDigits } from "../../base/group-digits.js";
import { ownText, type ResultContent, text } from "../../protocol/content.js";
import { commandText } from "./command-text.js";

const HEAD_BYTES = 64 * 1024;
const TAIL_BYTES = 192 * 1024;
export const WINDOW_BYTES = HEAD_BYTES + TAIL_BYTES;

/** The number of characters that the model gets: more of the end, where errors and summaries are. With the notes behind it, it stays within the limit of a result. */
const SHOWN_HEAD = 4500;
const SHOWN_TAIL = 6500;
/** Sets how far a cut moves to fall between two lines. */
const SNAP = 1000;

export interface WindowText {
  readonly text: string;
  /** The output as a result: what stands in the middle of a cut one is Oxbow's own. */
  readonly content: readonly ResultContent[];
  readonly cut: boolean;
}

const LINE_BREAK = 10;

export class OutputWindow {
  #memory = Buffer.allocUnsafe(4096);
  #bytes = 0;
  #lineBreaks = 0;
  /** Line breaks in what was cleared. */
  #linesBefore = 0;

  get bytes(): number {
    return this.#bytes;
  }

  write(chunk: Uint8Array): void {
    for (let at = chunk.indexOf(LINE_BREAK); at >= 0; at = chunk.indexOf(LINE_BREAK, at + 1)) this.#lineBreaks += 1;
    this.#reserve(Math.min(this.#bytes + chunk.length, WINDOW_BYTES));
    // A chunk longer than the ring would leave only its end.
    const rest = this.#bytes < HEAD_BYTES ? this.#fill(chunk, HEAD_BYTES) : chunk;
    let left = rest.length > TAIL_BYTES ? rest.subarray(rest.length - TAIL_BYTES) : rest;
    this.#bytes += rest.length - left.length;
    while (left.length > 0) left = this.#fill(left, WINDOW_BYTES);
  }

  clear(): void {
    this.#bytes = 0;
    this.#linesBefore = this.#lineBreaks;
  }

  /** All output; undefined if some of it was dropped. */
  whole(): Buffer | undefined {
    return this.#bytes <= WINDOW_BYTES ? this.#memory.subarray(0, this.#bytes) : undefined;
  }

  /** `advice` says how to get the omitted part, from this line of the whole output on; it is called only if there is one. */
  text(advice: (line: number) => string): WindowText {
    const whole = this.whole();
    const all = whole === undefined ? undefined : commandText(whole);
    if (all !== undefined && all.length <= SHOWN_HEAD + SHOWN_TAIL)
      return { text: all, content: outputOf(all), cut: false };
    const beginning = all ?? commandText(this.#memory.subarray(0, HEAD_BYTES), { cutAfter: true });
    const head = headOf(beginning);
    const tail = tailOf(all ?? commandText(this.#ring(), { cutBefore: true }));
    const leftOut = Math.max(0, this.#bytes - Buffer.byteLength(head) - Buffer.byteLength(tail));
    const line = this.#linesBefore + lineBreaks(head) + (beginning[head.length] === "\n" ? 2 : 1);
    const marker = `[… ${groupDigits(leftOut)} bytes left out here; ${advice(line)} …]`;
    return {
      text: `${head}\n${marker}\n${tail}`,
      content: [text(head), ownText(marker), text(trimmed(tail))],
      cut: true,
    };
  }

  /** Copies what fits before `limit`, and returns the rest. */
  #fill(chunk: Uint8Array, limit: number): Uint8Array {
    const at = this.#bytes < HEAD_BYTES ? this.#bytes : HEAD_BYTES + ((this.#bytes - HEAD_BYTES) % TAIL_BYTES);
    const part = chunk.subarray(0, limit - at);
    this.#memory.set(part, at);
    this.#bytes += part.length;
    return chunk.subarray(part.length);
  }

  #ring(): Buffer {
    const at = HEAD_BYTES + ((this.#bytes - HEAD_BYTES) % TAIL_BYTES);
    return Buffer.concat([this.#memory.subarray(at, WINDOW_BYTES), this.#memory.subarray(HEAD_BYTES, at)]);
  }

  #reserve(size: number): void {
    if (size <= this.#memory.length) return;
    const larger = Buffer.allocUnsafe(Math.min(WINDOW_BYTES, Math.max(size, this.#memory.length * 4)));
    this.#memory.copy(larger, 0, 0, Math.min(this.#bytes, this.#memory.length));
    this.#memory = larger;
  }
}

function outputOf(all: string): readonly ResultContent[] {
  const shown = trimmed(all);
  return shown === "" ? [] : [text(shown)];
}

function trimmed(output: string): string {
  return output.replace(/\n+$/, "");
}

function headOf(text: string): string {
  const end = Math.min(SHOWN_HEAD, text.length);
  const newline = text.lastIndexOf("\n", end - 1);
  if (newline >= end - SNAP) return text.slice(0, newline);
  return text.slice(0, isLowSurrogate(text, end) ? end - 1 : end);
}

function tailOf(text: string): string {
  const start = Math.max(0, text.length - SHOWN_TAIL);
  const newline = text.indexOf("\n", start);
  if (newline >= 0 && newline < start + SNAP && newline + 1 < text.length) return text.slice(newline + 1);
  return text.slice(isLowSurrogate(text, start) ? start + 1 : start);
}

function isLowSurrogate(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff;
}
