/** Changes to a text by offsets, and the line numbers of places in it. */

/** Replace `text[start, end)`. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The same text with `\n` for every line ending, offset for offset. `\r\n` does not occur: the workspace reads it as `\n`. */
export function unixNewlines(text: string): string {
  return text.includes("\r") ? text.replaceAll("\r", "\n") : text;
}

/** Splices in order that do not overlap. New lines get the line ending of the text. */
export function applySplices(text: string, splices: readonly Splice[]): string {
  const newline = newlineOf(text);
  let out = "";
  let at = 0;
  for (const splice of splices) {
    const fresh = newline === "\n" ? splice.text : splice.text.replaceAll("\n", newline);
    out += text.slice(at, splice.start) + fresh;
    at = splice.end;
  }
  return out + text.slice(at);
}

/** The same change without the whole lines at either end that it does not change. */
export function trimSplice(text: string, { start, end, text: fresh }: Splice): Splice {
  const old = text.slice(start, end);
  const most = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < most && old[head] === fresh[head]) head++;
  if (head > 0) head = old.lastIndexOf("\n", head - 1) + 1;
  let tail = 0;
  while (tail < most - head && old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]) tail++;
  const startsLine = (part: string) => part.length === tail || part[part.length - tail - 1] === "\n";
  while (tail > 0 && !(startsLine(old) && startsLine(fresh))) tail--;
  return { start: start + head, end: end - tail, text: fresh.slice(head, fresh.length - tail) };
}

export function newlineOf(text: string): "\n" | "\r" {
  return text.includes("\r") && !text.includes("\n") ? "\r" : "\n";
}

/** Line number, from 1. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) line++;
  return line;
}

const MAX_LISTED = 10;

/** The line numbers of some offsets, in order: "4, 17 and 30", cut when there are many. */
export function listLines(text: string, offsets: readonly number[]): string {
  const shown = offsets.slice(0, MAX_LISTED).map((offset) => String(lineAt(text, offset)));
  if (offsets.length > MAX_LISTED) return `${shown.join(", ")} and ${offsets.length - MAX_LISTED} more`;
  const last = shown.pop();
  return shown.length === 0 ? `${last}` : `${shown.join(", ")} and ${last}`;
}
