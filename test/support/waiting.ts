import { vi } from "vitest";

/** How often a test looks. A look at each turn of the event loop would take the processor from what the test waits for. */
const LOOK_MS = 2;
/** It only ends a hang: a busy machine may take long. */
const HANG_MS = 20_000;

/** Waits for a condition. The test's own time limit ends the wait. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}

/** Repeats a check until it does not throw; the last error is the test's. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: HANG_MS, interval: 10 });
}
