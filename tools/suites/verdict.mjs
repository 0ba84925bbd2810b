/**
 * Describes what a run of the suites means: a failure that is not recorded is new, and a recorded one that passes is reported, so that the list
 * stays correct.
 */
import { createHash } from "node:crypto";

/** Identifies one of several cases with the same id, without its text, which may look like a secret. */
export function digestOf(info) {
  return createHash("sha256").update(JSON.stringify(info)).digest("hex").slice(0, 12);
}

function matches(entry, failure) {
  return entry.id === failure.id && (entry.digest === undefined || entry.digest === digestOf(failure.info));
}

/** `failures` are new, `missing` are recorded and passed. */
export function verdictOf(suite, failures, accepted) {
  const recorded = accepted.filter((entry) => entry.suite === suite);
  return {
    failures: failures.filter((failure) => !recorded.some((entry) => matches(entry, failure))),
    missing: recorded.filter((entry) => !failures.some((failure) => matches(entry, failure))),
  };
}
