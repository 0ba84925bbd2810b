/** Loads the database library: a native module behind a CommonJS package. */
import { createRequire } from "node:module";

export const PACKAGE_NAME = "libsql";

/** By `require`: an import would first read the package's text for the names it exports. */
export function requireNative(): unknown {
  return createRequire(import.meta.url)(PACKAGE_NAME);
}
