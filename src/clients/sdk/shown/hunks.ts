/** The hunks of a unified diff, as `base/diff` and git write them. */

export interface DiffLine {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
  readonly oldNumber?: number;
  readonly newNumber?: number;
}

export interface Hunk {
  readonly lines: readonly DiffLine[];
}

export interface ParsedDiff {
  readonly hunks: readonly Hunk[];
  /** Other lines of the diff: that it was cut, that a newline is missing. */
  readonly notes: readonly string[];
}

export function parseHunks(diff: string): ParsedDiff {
  const hunks: { lines: DiffLine[] }[] = [];
  const notes: string[] = [];
  let oldNumber = 1;
  let newNumber = 1;
  for (const line of diff.split("\n")) {
    const head = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    const hunk = hunks.at(-1);
    if (head !== null) {
      oldNumber = Number(head[1]);
      newNumber = Number(head[2]);
      hunks.push({ lines: [] });
    } else if (hunk === undefined) continue;
    else if (line.startsWith("+")) hunk.lines.push({ kind: "added", text: line.slice(1), newNumber: newNumber++ });
    else if (line.startsWith("-")) hunk.lines.push({ kind: "removed", text: line.slice(1), oldNumber: oldNumber++ });
    else if (line.startsWith("\\")) notes.push(`(${line.slice(1).trim()})`);
    else if (line.startsWith("… ")) notes.push(line);
    else if (line.startsWith(" ")) {
      hunk.lines.push({ kind: "same", text: line.slice(1), oldNumber: oldNumber++, newNumber: newNumber++ });
    }
  }
  return { hunks, notes: [...new Set(notes)] };
}
