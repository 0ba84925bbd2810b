import { describe, expect } from "vitest";
import { verifies } from "../../test/verifies.js";
import { ManualClock } from "../base/clock.js";
import type { SessionId } from "../protocol/ids.js";
import { IdleWatch } from "./idle-watch.js";

function watched(isPinned?: () => Promise<boolean>) {
  const clock = new ManualClock();
  const state = { readers: false, busy: false, open: true, ended: 0 };
  const policy = { clock, timeoutMs: 1_000, ...(isPinned && { isPinned }) };
  const watch = new IdleWatch(policy, {
    session: "sess_1" as SessionId,
    hasReaders: () => state.readers,
    isBusy: () => state.busy,
    isOpen: () => state.open,
    end: async () => {
      state.ended++;
      state.open = false;
    },
  });
  const pass = async (ms: number) => {
    clock.advance(ms);
    for (let tick = 0; tick < 5; tick++) await Promise.resolve();
  };
  return { watch, state, clock, pass };
}

describe("a session that no client uses", () => {
  verifies(["O3"], "ends after its time, counted from the last use", async () => {
    const { watch, state, pass, clock } = watched();
    watch.used();
    await pass(999);
    watch.used();
    await pass(999);
    expect(state.ended).toBe(0);
    await pass(1);
    expect([state.ended, clock.pending]).toEqual([1, 0]);
  });

  verifies(["O3"], "stays while it is pinned, and while it cannot be known whether it is", async () => {
    let answer: () => Promise<boolean> = async () => true;
    const { watch, state, pass, clock } = watched(() => answer());
    watch.used();
    await pass(1_000);
    answer = () => Promise.reject(new Error("the store is busy"));
    await pass(1_000);
    expect([state.ended, clock.pending]).toEqual([0, 1]);
    answer = async () => false;
    await pass(1_000);
    expect(state.ended).toBe(1);
  });

  verifies(["O3"], "stays while its turn runs, or when a reader comes while Oxbow looks", async () => {
    const { watch, state, pass, clock } = watched(async () => {
      state.readers = comes;
      return false;
    });
    let comes = false;
    state.busy = true;
    watch.used();
    await pass(1_000);
    expect([state.ended, clock.pending]).toEqual([0, 1]);
    state.busy = false;
    comes = true;
    await pass(1_000);
    expect([state.ended, clock.pending]).toEqual([0, 0]);
  });

  verifies(["O3"], "has no timer while it has a reader or is closed", () => {
    for (const change of [{ readers: true }, { open: false }]) {
      const { watch, state, clock } = watched();
      watch.used();
      expect(clock.pending).toBe(1);
      Object.assign(state, change);
      watch.used();
      expect(clock.pending).toBe(0);
    }
  });
});
