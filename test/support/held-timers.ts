import { type Clock, systemClock } from "../../src/base/clock.js";

/** The system's clock, except that timers of one length fire when the test calls `fire`, so that no test depends on the machine's speed. */
export function holdTimers(ms: number): { readonly clock: Clock; pending(): number; fire(): void } {
  const held = new Set<() => void>();
  return {
    clock: {
      ...systemClock,
      after(wait, action) {
        if (wait !== ms) return systemClock.after(wait, action);
        held.add(action);
        return () => held.delete(action);
      },
    },
    pending: () => held.size,
    fire() {
      for (const action of held) action();
      held.clear();
    },
  };
}
