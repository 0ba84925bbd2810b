/** Tables as text: one row to a line, its cells separated by ` | `. `#` begins a comment. */
export type Row = readonly string[];

export function rowsOf(text: string): readonly Row[] {
  return text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("# "))
    .map((line) => line.split(/ \|(?: |$)/));
}
