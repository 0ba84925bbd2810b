/** Compares a measurement with its bar, the baseline and the recorded exceptions. */

/** A value this much above the baseline's is worse, not noise. */
export const TOLERANCE = 1.25;

/** `problem` fails the bench; `note` is printed beside the row. A row within `enoughMs` meets its bar, whatever its ratio is. */
export function verdictOf(row, { baseline, accepted }) {
  const value = row.ratio ?? row.oxbow;
  const limit = row.limit ?? row.limitValue;
  const before = baseline[row.name];
  const exception = accepted.find(({ name }) => name === row.name);
  const isEnough = row.enoughMs !== undefined && row.oxbow <= row.enoughMs;
  const isOver = limit !== undefined && value > limit && !isEnough;
  const isAccepted = isOver && exception !== undefined && value <= exception.upTo;
  const problems = [];
  if (isOver && !isAccepted) problems.push(`over the bar of ${exception?.upTo ?? limit}`);
  if (before !== undefined && value > before * TOLERANCE) problems.push(`worse than the baseline ${before}`);
  if (problems.length > 0) return { problem: problems.join(", "), note: problems.join(", ") };
  if (isAccepted) return { note: `over the bar, recorded up to ${exception.upTo}` };
  return { note: exception === undefined ? "ok" : "ok, though recorded as an exception (tools/bench/accepted.mjs)" };
}
