/**
 * Text is judged in segments, so that a stream and a whole text are judged alike.
 *
 * 1. A segment is a line with its end, or a private key from its first line to its last.
 * 2. No segment is longer than `LONGEST_SEGMENT`; a longer line is cut where a secret is least likely to be.
 * 3. Where a segment ends depends on the text from its beginning only, never on what comes after its end.
 */
export const LONGEST_SEGMENT = 16_384;

const KEY_BEGIN = /-----BEGIN (?:[A-Z0-9 ]{0,30} )?PRIVATE KEY(?: BLOCK)?-----/;
const KEY_END = /-----END (?:[A-Z0-9 ]{0,30} )?PRIVATE KEY(?: BLOCK)?-----/;

/** The margin, line numbers and quotes that may surround a line of a key: `  12  +MII…`, `"MII…\n" +`. */
const KEY_LINE = /^.{0,24}?[A-Za-z0-9+/=]*(?:[^A-Za-z0-9+/=].{0,12})?$|^.{0,24}?[A-Z][A-Za-z-]{2,20}: .{0,200}$/;

/** Looked for from the back of a line that is too long. */
const CUTS: readonly RegExp[] = [/[;{}][^;{}]*$/, /\s\S*$/, /["'`,()][^"'`,()]*$/];
const CUT_WINDOW = 4_096;

/** The end of the segment that starts at `start`, or -1 while more text could still change it. */
export function segmentEnd(text: string, start: number): number {
  const newline = text.indexOf("\n", start);
  const end = newline === -1 ? text.length : newline + 1;
  if (end - start > LONGEST_SEGMENT) return cut(text, start);
  if (newline === -1) return -1;
  return opensKey(text.slice(start, end)) ? keyEnd(text, start, end) : end;
}

function cut(text: string, start: number): number {
  const limit = start + LONGEST_SEGMENT;
  const from = limit - CUT_WINDOW;
  const window = text.slice(from, limit);
  for (const place of CUTS) {
    const at = window.search(place);
    if (at !== -1) return from + at + 1;
  }
  return limit;
}

function opensKey(line: string): boolean {
  const begin = KEY_BEGIN.exec(line);
  return begin !== null && !KEY_END.test(line.slice(begin.index));
}

function keyEnd(text: string, start: number, firstEnd: number): number {
  let end = firstEnd;
  for (;;) {
    const newline = text.indexOf("\n", end);
    const lineEnd = newline === -1 ? text.length : newline + 1;
    if (lineEnd - start > LONGEST_SEGMENT) return end;
    if (newline === -1) return -1;
    const line = text.slice(end, newline);
    if (KEY_END.test(line)) return lineEnd;
    if (!KEY_LINE.test(line)) return end;
    end = lineEnd;
  }
}
