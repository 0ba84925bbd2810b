/** Loads the database library: a native module behind a CommonJS package. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

export const PACKAGE_NAME = "libsql";

const MAPPED = "/proc/self/maps";
/** The file of the usual C library, also of its older versions. */
const USUAL_LIBRARY = /\/libc(?:\.so\.6|-2\.\d+\.so)$/m;

/** Uses `require`, because an import would first scan the package for its exports. */
export function requireNative(): unknown {
  return withSmallReports(() => createRequire(import.meta.url)(PACKAGE_NAME));
}

/**
 * The package makes a diagnostic report of the process to find the system's C library: a few milliseconds for one word. Where it is
 * the usual one, the package gets that word alone. Elsewhere it gets a report without the network: the report would ask for the name
 * of each connected host and block the process meanwhile.
 */
function withSmallReports<T>(work: () => T): T {
  const report: NodeJS.ProcessReport & { excludeNetwork?: boolean } = process.report;
  const { excludeNetwork, getReport } = report;
  report.excludeNetwork = true;
  if (hasUsualLibrary()) report.getReport = () => ({ header: { glibcVersionRuntime: "2" } });
  try {
    return work();
  } finally {
    report.excludeNetwork = excludeNetwork ?? false;
    report.getReport = getReport;
  }
}

function hasUsualLibrary(): boolean {
  try {
    return USUAL_LIBRARY.test(readFileSync(MAPPED, "latin1"));
  } catch {
    return false;
  }
}
