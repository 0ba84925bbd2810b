/**
 * The lines of a program that writes JSON to standard input.
 *
 * 1. A line has a limit; of a longer one nothing is kept.
 * 2. Many lines that arrive at once take many turns of the event loop: other clients are served between them.
 */

/** Sets how many lines of one piece come in one turn. */
const LINES_AT_ONCE = 100;

/** Without blank lines. Undefined for a line that is too long: its rest is skipped. */
export async function* pipedLines(
  input: AsyncIterable<Buffer | string>,
  mostBytes: number,
): AsyncGenerator<Buffer | undefined> {
  let pieces: Buffer[] = [];
  let size = 0;
  let count = 0;
  for await (const chunk of input) {
    let rest = Buffer.from(chunk);
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      const line = size + end > mostBytes ? undefined : Buffer.concat([...pieces, rest.subarray(0, end)]);
      pieces = [];
      size = 0;
      rest = rest.subarray(end + 1);
      if (++count % LINES_AT_ONCE === 0) await new Promise(setImmediate);
      if (line === undefined || !isBlank(line)) yield line;
    }
    size += rest.length;
    if (size > mostBytes) pieces = [];
    else pieces.push(rest);
  }
  if (size > mostBytes) yield undefined;
  else if (size > 0) yield Buffer.concat(pieces);
}

function isBlank(line: Buffer): boolean {
  return line.length === 0 || (line.length === 1 && line[0] === 13);
}
