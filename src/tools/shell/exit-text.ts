import { constants } from "node:os";
import { formatDuration } from "../../base/duration.js";
import type { ProcessEnd } from "../../system/process-group.js";

/** Tells how a command ended, in words for the model: `exit code 1`, `exit code 137 (SIGKILL)`, `killed by SIGSEGV`. */
export function describeExit(end: ProcessEnd): string {
  if (end.signal !== undefined) return `killed by ${end.signal}`;
  const code = end.exitCode ?? 0;
  const signal = code > 128 ? signalName(code - 128) : undefined;
  return signal === undefined ? `exit code ${code}` : `exit code ${code} (${signal})`;
}

/** Notes for the model after the output, one bracketed line each. */
export function exitNotes(end: ProcessEnd, { durationMs }: { readonly durationMs: number }): readonly string[] {
  const notes: string[] = [];
  if (end.reason === "timeout") {
    const time = formatDuration(durationMs);
    notes.push(`[timed out after ${time} and was killed; set a longer timeout (seconds) or run_in_background]`);
  } else if (end.reason === "cancelled") {
    notes.push(`[cancelled after ${formatDuration(durationMs)}; it may have changed files]`);
  } else if (end.exitCode !== 0) {
    notes.push(`[${describeExit(end)}]`);
  }
  if (end.leftovers > 0) {
    const processes = end.leftovers === 1 ? "1 process was" : `${end.leftovers} processes were`;
    notes.push(`[${processes} still running and ended with the command; use run_in_background to keep one]`);
  }
  if (end.survivors > 0) notes.push(`[${end.survivors} of its processes could not be killed]`);
  return notes;
}

function signalName(number: number): string | undefined {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
}
