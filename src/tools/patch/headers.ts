/** The lines of a text that the `@@` lines of a hunk name. */
import { fingerprint } from "../edit/fingerprint.js";

/** Offsets of the lines that match the last header, each after a match of the one before; or the header that has no match. */
export function findHeaders(text: string, headers: readonly string[]): readonly number[] | string {
  const lines = text.split("\n");
  let rows: readonly number[] | undefined;
  for (const header of headers) {
    const matching = rowsOf(lines, header.trim());
    const following: readonly number[] = rows?.flatMap((row) => matching.find((each) => each > row) ?? []) ?? matching;
    if (following.length === 0) return header;
    rows = [...new Set(following)];
  }
  const starts = lineStarts(lines);
  return rows?.map((row) => starts[row] as number) ?? [];
}

/** Lines equal to the header except for space at the ends; else with its fingerprint; else the only line that holds it. */
function rowsOf(lines: readonly string[], header: string): readonly number[] {
  const rows = (matches: (line: string) => boolean) => lines.flatMap((line, row) => (matches(line) ? [row] : []));
  const equal = rows((line) => line.trim() === header);
  if (equal.length > 0) return equal;
  const print = fingerprint(header).text;
  const alike = print === "" ? [] : rows((line) => fingerprint(line).text === print);
  if (alike.length > 0) return alike;
  const holding = rows((line) => line.includes(header));
  return holding.length === 1 ? holding : [];
}

function lineStarts(lines: readonly string[]): readonly number[] {
  let at = 0;
  return lines.map((line) => {
    const start = at;
    at += line.length + 1;
    return start;
  });
}
