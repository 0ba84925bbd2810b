/** Quotations copied together with the line numbers that a tool put before each line. */
const NUMBERED = /^\s*(\d+)(?:\t|→|\s?[|:│]\s?)/;

export function withoutLineNumbers(text: string): string | undefined {
  const lines = text.split("\n");
  const body = lines.at(-1) === "" ? lines.slice(0, -1) : lines;
  const numbers = body.map((line) => Number(NUMBERED.exec(line)?.[1] ?? Number.NaN));
  const isNumbered = numbers.every((number, i) => number === (numbers[0] ?? 0) + i);
  if (body.length < 2 || !isNumbered) return undefined;
  return lines.map((line) => line.replace(NUMBERED, "")).join("\n");
}
