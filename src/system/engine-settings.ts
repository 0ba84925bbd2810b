/** Settings of V8. Each is here only because a bar of the bench fails without it. */
import { setFlagsFromString } from "node:v8";

/**
 * Keeps V8's young generation at its initial size; otherwise it grows to many megabytes: 1.60 to 1.63 times the peak of a bare
 * Node loop after 50 shell turns, where 1.6 is the bar.
 */
export function keepHeapSmall(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

/**
 * Compiles a function at its first call, simply, and optimizes it later than V8 would. A shell turn runs much code a few times:
 * it takes 1 to 2 ms less of about 14, and the memory that the optimizing compiler needs is not part of the peak.
 */
export function compileEarlyAndSimply(): void {
  for (const flag of ["--no-lazy-feedback-allocation", "--always-sparkplug", "--interrupt-budget=264000"])
    setFlagsFromString(flag);
}
