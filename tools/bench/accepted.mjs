/**
 * Measurements that are known to miss their bar: `{ name, upTo, why }`. Up to `upTo` they do not fail the bench, so that new failures
 * are visible.
 */
export const ACCEPTED = [];
