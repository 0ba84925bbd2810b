/** A whole file with its changes in place. */
import { diffLines } from "../../../../base/diff.js";
import type { DiffLine, Hunk } from "../../../sdk/shown/hunks.js";

export interface FileText {
  readonly content: string;
  /** Whether it is the file before or after the change. */
  readonly side: "old" | "new";
}

export interface WholeFile {
  readonly lines: readonly DiffLine[];
  /** For each hunk: the index of its first line; undefined if the file has no such lines. */
  readonly starts: readonly (number | undefined)[];
}

interface Placed {
  readonly hunk: number;
  /** The first line of the file that it covers. */
  readonly at: number;
  readonly count: number;
}

export function wholeFile({ content, side }: FileText, hunks: readonly Hunk[]): WholeFile {
  const text = linesOf(content);
  const bare = text.map(withoutReturn);
  const placed: Placed[] = [];
  for (const [hunk, { lines }] of hunks.entries()) {
    const covered = lines.filter(({ kind }) => kind !== (side === "old" ? "added" : "removed"));
    const at = placeOf(bare, { covered, side, placed });
    if (at !== undefined) placed.push({ hunk, at, count: covered.length });
  }
  placed.sort((one, other) => one.at - other.at);
  return joined(text, hunks, placed);
}

/** The hunks with the numbers of the file and some lines around them. Hunks without a place stay as they are. */
export function numberedHunks(hunks: readonly Hunk[], { lines, starts }: WholeFile, around = 3): readonly Hunk[] {
  return hunks.map((hunk, index) => {
    const start = starts[index];
    if (start === undefined) return hunk;
    const end = start + hunk.lines.length;
    let [first, last] = [start, end];
    while (start - first < around && lines[first - 1]?.kind === "same") first--;
    while (last - end < around && lines[last]?.kind === "same") last++;
    return { lines: lines.slice(first, last) };
  });
}

/** The changes between two texts, with some lines around them. No line is cut. */
export function changedHunks(before: string, after: string, around = 3): readonly Hunk[] {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  const lines: DiffLine[] = [];
  for (const { kind, oldStart, oldCount, newStart, newCount } of diffLines(old, fresh)) {
    for (let at = oldStart; at < oldStart + oldCount; at++) {
      const text = old[at] as string;
      if (kind === "changed") lines.push({ kind: "removed", text, oldNumber: at + 1 });
      else lines.push({ kind: "same", text, oldNumber: at + 1, newNumber: newStart + at - oldStart + 1 });
    }
    if (kind === "same") continue;
    for (let at = newStart; at < newStart + newCount; at++) {
      lines.push({ kind: "added", text: fresh[at] as string, newNumber: at + 1 });
    }
  }
  const hunks: { lines: DiffLine[] }[] = [];
  let until = -1;
  for (const [at, { kind }] of lines.entries()) {
    if (kind === "same") continue;
    const from = Math.max(0, at - around);
    const end = Math.min(lines.length, at + around + 1);
    if (from > until || hunks.length === 0) hunks.push({ lines: lines.slice(from, end) });
    else hunks.at(-1)?.lines.push(...lines.slice(until, end));
    until = end;
  }
  return hunks;
}

function linesOf(content: string): string[] {
  return content === "" ? [] : content.replace(/\n$/, "").split("\n");
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

/** By its number if the lines there are the same, else the first place with these lines. */
function placeOf(
  text: readonly string[],
  {
    covered,
    side,
    placed,
  }: { readonly covered: readonly DiffLine[]; readonly side: FileText["side"]; readonly placed: readonly Placed[] },
): number | undefined {
  if (covered.length === 0) return text.length === 0 ? 0 : undefined;
  const wanted = covered.map((line) => withoutReturn(line.text));
  const isFree = (at: number) =>
    placed.every((other) => at + wanted.length <= other.at || other.at + other.count <= at);
  const fits = (at: number) => wanted.every((line, index) => text[at + index] === line) && isFree(at);
  const number = side === "old" ? covered[0]?.oldNumber : covered[0]?.newNumber;
  if (number !== undefined && fits(number - 1)) return number - 1;
  for (let at = 0; at + wanted.length <= text.length; at++) if (fits(at)) return at;
  return undefined;
}

function joined(text: readonly string[], hunks: readonly Hunk[], placed: readonly Placed[]): WholeFile {
  const lines: DiffLine[] = [];
  const starts: (number | undefined)[] = hunks.map(() => undefined);
  let [oldNumber, newNumber, at] = [1, 1, 0];
  const add = ({ kind, text: shown }: Pick<DiffLine, "kind" | "text">) => {
    lines.push({
      kind,
      text: shown,
      ...(kind !== "added" && { oldNumber: oldNumber++ }),
      ...(kind !== "removed" && { newNumber: newNumber++ }),
    });
  };
  const addUntil = (end: number) => {
    while (at < end) add({ kind: "same", text: text[at++] as string });
  };
  for (const { hunk, at: from, count } of placed) {
    addUntil(from);
    starts[hunk] = lines.length;
    for (const line of hunks[hunk]?.lines ?? []) add(line);
    at += count;
  }
  addUntil(text.length);
  return { lines, starts };
}
