/** The smallest piece of a text that changes. `edit` wants a quote of text that occurs exactly once. */

/** From the first line that differs to the last, with enough lines around it to make the piece unique. */
export function smallestChange(before: string, after: string): { readonly old: string; readonly new: string } {
  const old = before.split("\n");
  const changed = after.split("\n");
  let start = 0;
  while (start < old.length && old[start] === changed[start]) start++;
  let end = 0;
  while (end < old.length - start && end < changed.length - start && old.at(-1 - end) === changed.at(-1 - end)) end++;
  for (;;) {
    const piece = old.slice(start, old.length - end).join("\n");
    const whole = start === 0 && end === 0;
    if (whole || occursOnce(before, piece))
      return { old: piece, new: changed.slice(start, changed.length - end).join("\n") };
    start = Math.max(0, start - 1);
    end = Math.max(0, end - 1);
  }
}

/** The last line end is not part of the text, so a piece that ends in one could also match across it. */
function occursOnce(text: string, piece: string): boolean {
  if (piece === "") return false;
  const whole = `${text}\n`;
  const first = whole.indexOf(piece);
  return first !== -1 && whole.indexOf(piece, first + 1) === -1;
}
