/** The text between two versions: only some hunks of their difference applied. */
import { diffedLines, diffLines, hunksOf, NO_NEWLINE } from "./diff.js";

/** `chosen`: hunks as `diffText` shows them, counted from 1. */
export function applySomeHunks(before: string, after: string, chosen: ReadonlySet<number>): string {
  const oldLines = diffedLines(before);
  const newLines = diffedLines(after);
  const parts = diffLines(oldLines, newLines);
  const taken = new Set(hunksOf(parts).flatMap((hunk, index) => (chosen.has(index + 1) ? hunk : [])));
  const lines = parts.flatMap((part) =>
    part.kind === "changed" && taken.has(part)
      ? newLines.slice(part.newStart, part.newStart + part.newCount)
      : oldLines.slice(part.oldStart, part.oldStart + part.oldCount),
  );
  const text = lines.map((line) => line.replace(NO_NEWLINE, "")).join("\n");
  return lines.length === 0 || lines.at(-1)?.endsWith(NO_NEWLINE) ? text : `${text}\n`;
}

export function countHunks(before: string, after: string): number {
  return hunksOf(diffLines(diffedLines(before), diffedLines(after))).length;
}
