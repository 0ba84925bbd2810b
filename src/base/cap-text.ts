/** Shortens texts that are too long. */
import { groupDigits } from "./group-digits.js";

/** At most this many characters, with an ellipsis at the end if some are left out. */
export function shorten(text: string, most: number): string {
  return text.length <= most ? text : `${wholeCharacters(text, 0, most - 1)}…`;
}

/** Keeps the head and the tail, with a marker that says how much was cut and how to get it. `advice` gets the number of the first line that is not whole. */
export function capText(text: string, most: number, advice: string | ((line: number) => string)): string {
  if (text.length <= most) return text;
  const { head, note, tail } = cutMiddle(text, most, advice);
  return `${head}\n${note}\n${tail}`;
}

/** The parts of a text that is longer than this: its head, what stands for the middle, and its tail. */
export function cutMiddle(
  text: string,
  most: number,
  advice: string | ((line: number) => string),
): { head: string; note: string; tail: string } {
  const head = wholeCharacters(text, 0, Math.ceil(most * 0.6));
  const tail = wholeCharacters(text, text.length - Math.floor(most * 0.4), text.length);
  const cut = text.length - head.length - tail.length;
  const how = typeof advice === "string" ? advice : advice(lineBreaks(head) + 1);
  return { head, note: `[… ${groupDigits(cut)} characters cut here: ${how} …]`, tail };
}

export function lineBreaks(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** A slice that does not cut a surrogate pair in half. */
function wholeCharacters(text: string, from: number, to: number): string {
  const low = (index: number) => {
    const code = text.charCodeAt(index);
    return code >= 0xdc00 && code <= 0xdfff;
  };
  return text.slice(low(from) ? from + 1 : from, low(to) ? to - 1 : to);
}
