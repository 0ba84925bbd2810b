/**
 * Computes and formats the differences between two texts by lines.
 *
 * 1. The parts cover both lists in order; `same` parts hold equal lines.
 * 2. The script is the shortest one (Myers, linear space) up to a limit of the work; beyond it, it is only a good one. Time is at most
 *    lines × MAX_ROUNDS, space is linear.
 */
export interface DiffPart {
  readonly kind: "same" | "changed";
  readonly oldStart: number;
  readonly oldCount: number;
  readonly newStart: number;
  readonly newCount: number;
}

/** Limit of rounds to find a split; after that the best point so far is used. */
const MAX_ROUNDS = 256;

export function diffLines(before: readonly string[], after: readonly string[]): readonly DiffPart[] {
  const most = Math.min(before.length, after.length);
  let tail = 0;
  while (tail < most && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  let head = 0;
  while (head < most - tail && before[head] === after[head]) head++;
  const oldChanged = new Uint8Array(before.length).fill(1, head, before.length - tail);
  const newChanged = new Uint8Array(after.length).fill(1, head, after.length - tail);

  // A line that the other side does not have cannot match: skipping it makes a rewritten file cheap.
  const numbers = new Map<string, number>();
  const old = numbered(before, { head, tail, numbers });
  const fresh = numbered(after, { head, tail, numbers });
  const oldKept = shared(old, { other: fresh, numbers: numbers.size });
  const newKept = shared(fresh, { other: old, numbers: numbers.size });
  const matcher = new Matcher(
    oldKept.map((index) => old[index] as number),
    newKept.map((index) => fresh[index] as number),
  );
  for (const [i, j] of matcher.matches()) {
    oldChanged[head + (oldKept[i] as number)] = 0;
    newChanged[head + (newKept[j] as number)] = 0;
  }
  return partsFrom(oldChanged, newChanged);
}

interface Middle {
  readonly head: number;
  readonly tail: number;
  readonly numbers: Map<string, number>;
}

function numbered(lines: readonly string[], { head, tail, numbers }: Middle): Int32Array {
  const out = new Int32Array(lines.length - head - tail);
  for (let i = 0; i < out.length; i++) {
    const line = lines[head + i] as string;
    let number = numbers.get(line);
    if (number === undefined) {
      number = numbers.size;
      numbers.set(line, number);
    }
    out[i] = number;
  }
  return out;
}

/** The indices of the lines that the other side has as well. */
function shared(lines: Int32Array, { other, numbers }: { other: Int32Array; numbers: number }): Int32Array {
  const present = new Uint8Array(numbers);
  for (const number of other) present[number] = 1;
  const out = new Int32Array(lines.length);
  let count = 0;
  for (let i = 0; i < lines.length; i++) if (present[lines[i] as number] === 1) out[count++] = i;
  return out.subarray(0, count);
}

function partsFrom(oldChanged: Uint8Array, newChanged: Uint8Array): readonly DiffPart[] {
  const parts: DiffPart[] = [];
  let i = 0;
  let j = 0;
  while (i < oldChanged.length || j < newChanged.length) {
    const oldStart = i;
    const newStart = j;
    while (i < oldChanged.length && j < newChanged.length && oldChanged[i] === 0 && newChanged[j] === 0) {
      i++;
      j++;
    }
    if (i > oldStart) {
      parts.push({ kind: "same", oldStart, oldCount: i - oldStart, newStart, newCount: j - newStart });
      continue;
    }
    while (oldChanged[i] === 1) i++;
    while (newChanged[j] === 1) j++;
    parts.push({ kind: "changed", oldStart, oldCount: i - oldStart, newStart, newCount: j - newStart });
  }
  return parts;
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Myers' divide and conquer: a point on a shortest path splits the box in two. */
class Matcher {
  readonly #old: Int32Array;
  readonly #new: Int32Array;
  readonly #forward: Int32Array;
  readonly #backward: Int32Array;
  readonly #origin: number;

  constructor(old: Int32Array, fresh: Int32Array) {
    this.#old = old;
    this.#new = fresh;
    this.#origin = fresh.length + 1;
    this.#forward = new Int32Array(old.length + fresh.length + 3);
    this.#backward = new Int32Array(old.length + fresh.length + 3);
  }

  *matches(): Generator<readonly [number, number]> {
    const boxes: Box[] = [{ left: 0, right: this.#old.length, top: 0, bottom: this.#new.length }];
    for (let box = boxes.pop(); box !== undefined; box = boxes.pop()) {
      let { left, right, top, bottom } = box;
      while (left < right && top < bottom && this.#old[left] === this.#new[top]) yield [left++, top++];
      while (left < right && top < bottom && this.#old[right - 1] === this.#new[bottom - 1]) yield [--right, --bottom];
      if (left === right || top === bottom) continue;
      const [x, y] = this.#split({ left, right, top, bottom });
      boxes.push({ left, right: x, top, bottom: y }, { left: x, right, top: y, bottom });
    }
  }

  #split({ left, right, top, bottom }: Box): readonly [number, number] {
    const forward = this.#forward;
    const backward = this.#backward;
    const origin = this.#origin;
    const lowest = left - bottom;
    const highest = right - top;
    const start = left - top;
    const end = right - bottom;
    const odd = ((start - end) & 1) !== 0;
    let forwardLow = start;
    let forwardHigh = start;
    let backwardLow = end;
    let backwardHigh = end;
    forward[origin + start] = left;
    backward[origin + end] = right;

    for (let round = 1; ; round++) {
      if (forwardLow > lowest) forward[origin + --forwardLow - 1] = -1;
      else forwardLow++;
      if (forwardHigh < highest) forward[origin + ++forwardHigh + 1] = -1;
      else forwardHigh--;
      for (let diagonal = forwardHigh; diagonal >= forwardLow; diagonal -= 2) {
        const below = forward[origin + diagonal - 1] as number;
        const above = forward[origin + diagonal + 1] as number;
        let x = below >= above ? below + 1 : above;
        while (x < right && x - diagonal < bottom && this.#old[x] === this.#new[x - diagonal]) x++;
        forward[origin + diagonal] = x;
        const met = odd && diagonal >= backwardLow && diagonal <= backwardHigh;
        if (met && x >= (backward[origin + diagonal] as number)) return [x, x - diagonal];
      }

      const far = 0x7fffffff;
      if (backwardLow > lowest) backward[origin + --backwardLow - 1] = far;
      else backwardLow++;
      if (backwardHigh < highest) backward[origin + ++backwardHigh + 1] = far;
      else backwardHigh--;
      for (let diagonal = backwardHigh; diagonal >= backwardLow; diagonal -= 2) {
        const below = backward[origin + diagonal - 1] as number;
        const above = backward[origin + diagonal + 1] as number;
        let x = below < above ? below : above - 1;
        while (x > left && x - diagonal > top && this.#old[x - 1] === this.#new[x - diagonal - 1]) x--;
        backward[origin + diagonal] = x;
        const met = !odd && diagonal >= forwardLow && diagonal <= forwardHigh;
        if (met && x <= (forward[origin + diagonal] as number)) return [x, x - diagonal];
      }

      if (round >= MAX_ROUNDS) return this.#furthest({ left, right, top, bottom }, forwardLow, forwardHigh);
    }
  }

  #furthest({ right, bottom }: Box, low: number, high: number): readonly [number, number] {
    let best: readonly [number, number] = [-1, -1];
    for (let diagonal = high; diagonal >= low; diagonal -= 2) {
      const x = Math.min(this.#forward[this.#origin + diagonal] as number, right, bottom + diagonal);
      if (2 * x - diagonal > best[0] + best[1]) best = [x, x - diagonal];
    }
    return best;
  }
}

export interface TextDiff {
  readonly added: number;
  readonly removed: number;
  /** Hunks of a unified diff without file headers; cut when long. */
  readonly text: string;
}

const CONTEXT_LINES = 3;
const MAX_LINE_LENGTH = 1000;
export const NO_NEWLINE = "\n\\ No newline at end of file";

/** A unified diff for the screen. `maxLines` bounds the text, not the counts. */
export function diffText(before: string, after: string, { maxLines = 200 }: { maxLines?: number } = {}): TextDiff {
  const oldLines = diffedLines(before);
  const newLines = diffedLines(after);
  const parts = diffLines(oldLines, newLines);
  const changes = parts.filter((part) => part.kind === "changed");
  const hunks = hunksOf(parts);
  const shown: string[] = [];
  for (const hunk of hunks) {
    if (shown.length >= maxLines) break;
    for (const line of renderHunk(hunk, oldLines, newLines)) if (shown.push(line) >= maxLines) break;
  }
  const left = hunks.reduce((sum, hunk) => sum + renderedLines(hunk), 0) - shown.length;
  if (left > 0) shown.push(`… ${left} more diff lines`);
  return {
    added: changes.reduce((sum, part) => sum + part.newCount, 0),
    removed: changes.reduce((sum, part) => sum + part.oldCount, 0),
    text: shown.join("\n"),
  };
}

/** A final newline ends the last line; it does not start another. Its absence is a difference. */
export function diffedLines(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  const last = lines.pop() as string;
  if (last !== "") lines.push(last + NO_NEWLINE);
  return lines;
}

/** Changes whose context would touch belong to one hunk. */
export function hunksOf(parts: readonly DiffPart[]): readonly DiffPart[][] {
  const out: DiffPart[][] = [];
  let current: DiffPart[] | undefined;
  parts.forEach((part, index) => {
    if (part.kind === "changed") {
      if (current === undefined) {
        current = [];
        out.push(current);
        const context = parts[index - 1];
        if (context !== undefined) current.push(lastLines(context));
      }
      current.push(part);
    } else if (current !== undefined) {
      const joins = index < parts.length - 1 && part.oldCount <= 2 * CONTEXT_LINES;
      current.push(joins ? part : firstLines(part));
      if (!joins) current = undefined;
    }
  });
  return out;
}

function firstLines(part: DiffPart): DiffPart {
  const count = Math.min(part.oldCount, CONTEXT_LINES);
  return { ...part, oldCount: count, newCount: count };
}

function lastLines(part: DiffPart): DiffPart {
  const count = Math.min(part.oldCount, CONTEXT_LINES);
  const oldStart = part.oldStart + part.oldCount - count;
  const newStart = part.newStart + part.newCount - count;
  return { ...part, oldStart, newStart, oldCount: count, newCount: count };
}

/** With its header. */
function renderedLines(parts: readonly DiffPart[]): number {
  const linesOf = ({ kind, oldCount, newCount }: DiffPart) => (kind === "same" ? oldCount : oldCount + newCount);
  return parts.reduce((sum, part) => sum + linesOf(part), 1);
}

/** One line after the other: a rewritten file may have millions, and only the first ones are shown. */
function* renderHunk(
  parts: readonly DiffPart[],
  before: readonly string[],
  after: readonly string[],
): Generator<string, void> {
  const first = parts[0] as DiffPart;
  const oldCount = parts.reduce((sum, part) => sum + part.oldCount, 0);
  const newCount = parts.reduce((sum, part) => sum + part.newCount, 0);
  const start = (line: number, count: number) => (count === 0 ? line : line + 1);
  yield `@@ -${start(first.oldStart, oldCount)},${oldCount} +${start(first.newStart, newCount)},${newCount} @@`;
  for (const { kind, oldStart, oldCount, newStart, newCount } of parts) {
    const mark = kind === "same" ? " " : "-";
    for (let i = 0; i < oldCount; i++) yield mark + shortened(before[oldStart + i] as string);
    if (kind === "same") continue;
    for (let i = 0; i < newCount; i++) yield `+${shortened(after[newStart + i] as string)}`;
  }
}

function shortened(line: string): string {
  if (line.length <= MAX_LINE_LENGTH) return line;
  return `${line.slice(0, MAX_LINE_LENGTH)}… (${line.length - MAX_LINE_LENGTH} more characters)`;
}
