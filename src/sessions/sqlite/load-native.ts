/** Loads the database library: a native module behind a CommonJS package. */
import { createRequire } from "node:module";

export const PACKAGE_NAME = "libsql";

/** By `require`: an import would first read the package's text for the names it exports. */
export function requireNative(): unknown {
  const require = createRequire(import.meta.url);
  try {
    return withoutReport(() => require(PACKAGE_NAME));
  } catch {
    return require(PACKAGE_NAME);
  }
}

/**
 * To learn which C library is here the package asks Node for a report of everything, which takes 10 ms. Without one it looks at the
 * system's files.
 */
function withoutReport<T>(action: () => T): T {
  const { report } = process;
  const { getReport } = report;
  try {
    report.getReport = () => ({});
    return action();
  } finally {
    report.getReport = getReport;
  }
}
