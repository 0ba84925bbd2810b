import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import type { SessionStore } from "../../sessions/store.js";
import { latestSession } from "./find-session.js";

const NOW = Date.UTC(2026, 5, 1);
const at = (days: number) => new Date(NOW + days * 86_400_000).toISOString();

function storeOf(...times: readonly string[]): SessionStore {
  const records = times.map((active_at) => ({ id: active_at, active_at })).sort((a, b) => (a.id < b.id ? 1 : -1));
  return { list: async ({ limit = 99 } = {}) => records.slice(0, limit) } as unknown as SessionStore;
}

describe("the session to continue", () => {
  verifies(["S6"], "is the latest one, but for sessions of a clock that was ahead", async () => {
    const latest = async (...times: string[]) => (await latestSession(storeOf(...times), "/", { now: NOW })).id;
    expect(await latest(at(-2), at(-1))).toBe(at(-1));
    expect(await latest(at(-2), at(-1), at(400))).toBe(at(-1));
    expect(await latest(at(400), at(300))).toBe(at(400));
  });
});
