/**
 * Measurements that miss their bar and are known to: `{ name, upTo, why }`. Up to `upTo` they do not fail the bench, so that what is
 * new shows.
 */
export const ACCEPTED = [];
