/**
 * Measurements that miss their bar and are known to: `{ name, upTo, why }`. Up to `upTo` they do not fail the bench, so that what is
 * new shows.
 */
export const ACCEPTED = [
  {
    name: "start to first request",
    upTo: 2.5,
    why: "2.04 to 2.29 in five quick runs, 1.79 to 1.89 in two others of the same code; loading fewer modules before the request is what would help",
  },
  {
    name: "first tool call after its answer",
    upTo: 11,
    why: "102 to 113 ms in five quick runs, where 100 ms is the bar; it was 170 to 230",
  },
];
