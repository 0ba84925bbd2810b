/** The words that differ between two versions of a line. */
import { diffLines } from "../../../../base/diff.js";

export interface Piece {
  readonly text: string;
  readonly isChanged: boolean;
}

const MAX_LENGTH = 2000;
/** Lines with less in common are different lines: marks would cover almost all of them. */
const LEAST_COMMON = 0.4;

/** Undefined if the two have too little in common. */
export function wordMarks(before: string, after: string): readonly [readonly Piece[], readonly Piece[]] | undefined {
  if (before.length > MAX_LENGTH || after.length > MAX_LENGTH) return undefined;
  const old = words(before);
  const fresh = words(after);
  const oldPieces: Piece[] = [];
  const newPieces: Piece[] = [];
  let common = 0;
  for (const part of diffLines(old, fresh)) {
    const isChanged = part.kind === "changed";
    const was = old.slice(part.oldStart, part.oldStart + part.oldCount).join("");
    const is = fresh.slice(part.newStart, part.newStart + part.newCount).join("");
    if (!isChanged) common += was.replaceAll(" ", "").length;
    if (was !== "") oldPieces.push({ text: was, isChanged });
    if (is !== "") newPieces.push({ text: is, isChanged });
  }
  const longest = Math.max(before.replaceAll(" ", "").length, after.replaceAll(" ", "").length);
  return common >= longest * LEAST_COMMON ? [oldPieces, newPieces] : undefined;
}

function words(line: string): string[] {
  return line.match(/[\p{L}\p{N}_]+|\s+|./gu) ?? [];
}
