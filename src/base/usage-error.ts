/** A mistake in how Oxbow was called: one line and exit code 2. */
export class UsageError extends Error {}
