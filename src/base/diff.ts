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
  const old = numbered(before.slice(head, before.length - tail), numbers);
  const fresh = numbered(after.slice(head, after.length - tail), numbers);
  const oldKept = shared(old, fresh);
  const newKept = shared(fresh, old);
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

function numbered(lines: readonly string[], numbers: Map<string, number>): Int32Array {
  return Int32Array.from(lines, (line) => {
    const known = numbers.get(line);
    if (known !== undefined) return known;
    numbers.set(line, numbers.size);
    return numbers.size - 1;
  });
}

function shared(lines: Int32Array, other: Int32Array): Int32Array {
  const present = new Set(other);
  const out: number[] = [];
  for (let i = 0; i < lines.length; i++) if (present.has(lines[i] as number)) out.push(i);
  return Int32Array.from(out);
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
  const lines = hunksOf(parts).flatMap((hunk) => renderHunk(hunk, oldLines, newLines));
  const left = lines.length - maxLines;
  const shown = left > 0 ? [...lines.slice(0, maxLines), `… ${left} more diff lines`] : lines;
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

function renderHunk(parts: readonly DiffPart[], before: readonly string[], after: readonly string[]): string[] {
  const first = parts[0] as DiffPart;
  const oldCount = parts.reduce((sum, part) => sum + part.oldCount, 0);
  const newCount = parts.reduce((sum, part) => sum + part.newCount, 0);
  const start = (line: number, count: number) => (count === 0 ? line : line + 1);
  const lines = [
    `@@ -${start(first.oldStart, oldCount)},${oldCount} +${start(first.newStart, newCount)},${newCount} @@`,
  ];
  for (const part of parts) {
    const old = before.slice(part.oldStart, part.oldStart + part.oldCount);
    const mark = part.kind === "same" ? " " : "-";
    for (const line of old) lines.push(mark + shortened(line));
    if (part.kind === "same") continue;
    for (const line of after.slice(part.newStart, part.newStart + part.newCount)) lines.push(`+${shortened(line)}`);
  }
  return lines;
}

function shortened(line: string): string {
  if (line.length <= MAX_LINE_LENGTH) return line;
  return `${line.slice(0, MAX_LINE_LENGTH)}… (${line.length - MAX_LINE_LENGTH} more characters)`;
}
