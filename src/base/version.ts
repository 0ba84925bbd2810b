declare const OXBOW_VERSION: string | undefined;

/** Set by the build from package.json. */
export const VERSION = typeof OXBOW_VERSION === "string" ? OXBOW_VERSION : "0.0.0-source";
