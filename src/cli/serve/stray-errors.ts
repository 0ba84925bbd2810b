/**
 * Keeps a service alive when an error reaches the process: of a timer, or of a promise that no code awaits. It is a bug in one place, and the
 * other sessions of the engine go on. Errors that come again and again end the program as before.
 */
import type { EventEmitter } from "node:events";
import type { Clock } from "../../base/clock.js";

const MOST_ERRORS = 20;
const WITHIN_MS = 60_000;

/** Returns a function that restores what was before. */
export function surviveStrayErrors(
  process: Pick<EventEmitter, "listeners" | "removeAllListeners" | "on">,
  { clock, report }: { readonly clock: Pick<Clock, "now">; readonly report: (line: string) => void },
): () => void {
  const before = process.listeners("uncaughtException") as ((...args: unknown[]) => void)[];
  const recent: number[] = [];
  process.removeAllListeners("uncaughtException");
  process.on("uncaughtException", (error: unknown, ...more: unknown[]) => {
    const now = clock.now();
    recent.push(now);
    while (now - (recent[0] ?? now) > WITHIN_MS) recent.shift();
    if (recent.length > MOST_ERRORS) for (const listener of before) listener(error, ...more);
    else report(`a bug in Oxbow: ${error instanceof Error ? error.message : String(error)}`);
  });
  return () => {
    process.removeAllListeners("uncaughtException");
    for (const listener of before) process.on("uncaughtException", listener);
  };
}
