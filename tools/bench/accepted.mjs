/**
 * Measurements that miss their bar and are known to: `{ name, upTo, why }`. Up to `upTo` they do not fail the bench, so that what is
 * new shows.
 */
export const ACCEPTED = [
  {
    name: "start to first request",
    upTo: 2.5,
    why: "1.86 to 2.48 in eight quick runs, the median 2.14; loading fewer modules before the request is what would help",
  },
  {
    name: "first tool call after its answer",
    upTo: 11,
    why: "89 to 133 ms in nine quick runs, most of them over the bar of 100 ms; it was 170 to 230",
  },
];
