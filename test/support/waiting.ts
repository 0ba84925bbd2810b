import { vi } from "vitest";

/** Sets how often a test looks. A look at each turn of the event loop would take the processor from what the test waits for. */
const LOOK_MS = 2;
/** It only ends a hang: a busy machine may take long. */
const HANG_MS = 20_000;

/** Ends a wait that outlives its test, whose own time limit is shorter. */
const LOST_MS = 180_000;

/** Waits for a condition. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (const begun = performance.now(); !(await condition()); ) {
    if (performance.now() - begun > LOST_MS) throw new Error("What the test waits for did not happen.");
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** Repeats a check until it does not throw; the last error is the test's. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: HANG_MS, interval: 10 });
}
