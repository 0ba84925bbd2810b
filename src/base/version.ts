declare const OXBOW_VERSION: string | undefined;
declare const OXBOW_LEAST_NODE: string | undefined;

/** Set by the build from package.json. */
export const VERSION = typeof OXBOW_VERSION === "string" ? OXBOW_VERSION : "0.0.0-source";

/** The oldest Node that runs the program. Set by the build from package.json. */
export const LEAST_NODE = typeof OXBOW_LEAST_NODE === "string" ? OXBOW_LEAST_NODE : "0.0.0";
