/**
 * Ids that name two events.
 *
 * An engine that is killed may have delivered events that it had not stored, and the next run gives their ids to others. The log keeps the
 * ranges in which that may have happened (SessionContinued), so a reader that resumes there gets a StreamGap, however many runs lie between.
 */
import type { EventRange } from "../protocol/events.js";

/**
 * No reader in another process gets an event that is further than this ahead of the log, so a kill cannot lose more ids. The log holds back
 * a line that may have a secret in it, and few lines of an answer come in more pieces than this.
 */
export const MOST_AHEAD = 1024;

/** A session that was interrupted more often joins its oldest ranges. */
const MOST_RANGES = 256;

/** With the ids after `last`, where a run was interrupted. */
export function withReplaced(earlier: readonly EventRange[], last: number): readonly EventRange[] {
  const ranges = [...earlier, { from: last + 1, to: last + MOST_AHEAD }];
  const [first, second, ...rest] = ranges;
  if (ranges.length <= MOST_RANGES || first === undefined || second === undefined) return ranges;
  return [{ from: first.from, to: Math.max(first.to, second.to) }, ...rest];
}

/** The earliest first: from its beginning on, a reader that has seen this id may have seen other events. */
export function rangesWith(ranges: readonly EventRange[], id: number): readonly EventRange[] {
  return ranges.filter(({ from, to }) => id >= from && id <= to);
}
