/** Loads the database library: a native module behind a CommonJS package. */
import { createRequire } from "node:module";

export const PACKAGE_NAME = "libsql";

/** Uses `require`, because an import would first scan the package for its exports. */
export function requireNative(): unknown {
  return createRequire(import.meta.url)(PACKAGE_NAME);
}
