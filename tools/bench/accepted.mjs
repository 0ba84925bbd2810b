/**
 * Measurements that are known to miss their bar: `{ name, upTo, why }`. Up to `upTo` they do not fail the bench, so that new failures
 * are visible.
 */
export const ACCEPTED = [
  {
    name: "first tool call after its answer",
    upTo: 11,
    why: "91, 98, 105 and 107 ms (6.7 to 8.7 times) in four runs on a quiet machine; what is left is a question to git and the start of the sandbox, which check the present state",
  },
];
