/** The report of the suite for people. */
import type { Outcome, SuiteReport } from "./suite.js";

const SIGNS = { passed: "✓", failed: "✗", skipped: "-" } as const;

export function outcomeLines({ name, rule, result, ms }: Outcome): readonly string[] {
  const line = `${SIGNS[result.state]} ${name}${result.state === "passed" ? ` (${ms} ms)` : ""}`;
  if (result.state === "skipped") return [`${line}: skipped, ${result.why}`];
  if (result.state === "passed") return [line];
  return [line, `    The rule: ${rule}`, `    Step ${result.step}: ${result.problem}`];
}

export function summaryLine({ passed, failed, skipped, protocol_version: version, transport }: SuiteReport): string {
  const server = version === undefined ? "no handshake" : `protocol ${version}`;
  return `${passed} passed, ${failed} failed, ${skipped} skipped · ${transport}, ${server}`;
}
