/** Loads the database library: a native module behind a CommonJS package. */
import { createRequire } from "node:module";

export const PACKAGE_NAME = "libsql";

/**
 * Uses `require`, because an import would first scan the package for its exports. The package reads a diagnostic report to find the
 * system's C library. With the network, the report would ask for the name of each connected host and block the process meanwhile.
 */
export function requireNative(): unknown {
  const report: NodeJS.ProcessReport & { excludeNetwork?: boolean } = process.report;
  const { excludeNetwork } = report;
  report.excludeNetwork = true;
  try {
    return createRequire(import.meta.url)(PACKAGE_NAME);
  } finally {
    report.excludeNetwork = excludeNetwork ?? false;
  }
}
