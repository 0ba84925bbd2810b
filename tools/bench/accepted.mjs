/**
 * Measurements that miss their bar and are known to: `{ name, upTo, why }`. Up to `upTo` they do not fail the bench, so that what is
 * new shows.
 */
export const ACCEPTED = [
  {
    name: "start to first request",
    upTo: 2.5,
    why: "with the code cache 1.10 to 2.10 in four quick runs, one of them over the bar, all on a busy machine (load 5 to 13 on two cores); a quiet one has not been measured",
  },
  {
    name: "first tool call after its answer",
    upTo: 11,
    why: "with the code cache 99 to 303 ms (6.5 to 15.1 times) in the same four runs, two of them over the bar; a quiet machine has not been measured",
  },
];
