/**
 * Describes which lines of a Claude Code transcript are the conversation (they are a tree: going back begins another branch).
 *
 * 1. The conversation is the newest line and its parents, back to the root. The parent of a summary is what it summarises, although its
 *    line says it hangs on nothing.
 * 2. Where the line it hangs on is lost, the line before it in the file counts, so that one damaged line does not cost all the others.
 * 3. The pieces of one answer belong together: calls that ran side by side hang on each other in a way that leaves some of them off
 *    the path.
 */
export interface ChainLine {
  readonly uuid: string;
  readonly parent: string | undefined;
  /** The first message after a summary. */
  readonly isSummary: boolean;
  /** The answer it is a piece of. */
  readonly answer?: string;
}

export function activeLines<T extends ChainLine>(lines: readonly T[], isTip: (line: T) => boolean): readonly T[] {
  const places = new Map<string, number>();
  for (const [index, { uuid }] of lines.entries()) if (!places.has(uuid)) places.set(uuid, index);
  const active = new Set<number>();
  let at = lines.findLastIndex(isTip);
  while (at >= 0 && !active.has(at)) {
    active.add(at);
    at = before(lines, places, at);
  }
  const answers = new Set<string>();
  for (const index of active) {
    const answer = lines[index]?.answer;
    if (answer !== undefined) answers.add(answer);
  }
  return lines.filter(
    ({ uuid, answer }, index) =>
      active.has(index) || (answer !== undefined && answers.has(answer) && places.get(uuid) === index),
  );
}

function before(lines: readonly ChainLine[], places: ReadonlyMap<string, number>, at: number): number {
  const line = lines[at];
  if (line === undefined) return -1;
  if (line.parent === undefined) return line.isSummary ? at - 1 : -1;
  return places.get(line.parent) ?? at - 1;
}
