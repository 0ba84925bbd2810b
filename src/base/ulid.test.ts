import { describe, expect } from "vitest";
import { verifies } from "../../test/verifies.js";
import { isId } from "../protocol/ids.js";
import { createIdSource } from "./ulid.js";

const random = (bytes: Uint8Array) => crypto.getRandomValues(bytes);

describe("ids", () => {
  verifies(["S9"], "have a typed prefix and a ULID", () => {
    const ids = createIdSource({ wall: () => Date.UTC(2026, 10, 15), random });
    for (const prefix of ["sess", "log", "call", "tok", "cli", "turn"] as const) {
      const id = ids.next(prefix);
      expect(isId(prefix, id)).toBe(true);
      expect(id).toMatch(new RegExp(`^${prefix}_[0-9A-HJKMNP-TV-Z]{26}$`));
    }
    expect(isId("sess", "sess_01ILLEGAL")).toBe(false);
    expect(isId("call", ids.next("sess"))).toBe(false);
  });

  verifies(["S9"], "sort in the order they were made, within a millisecond and when the clock steps back", () => {
    let now = 1_000_000;
    const ids = createIdSource({ wall: () => now, random: (bytes) => bytes.fill(255) });
    const made: string[] = [];
    for (const step of [0, 0, 0, 1, 0, -500, 0, 2000]) {
      now += step;
      made.push(ids.next("call"));
    }
    expect(new Set(made).size).toBe(made.length);
    expect([...made].sort()).toEqual(made);
  });

  verifies(["S9"], "carry the time in their first ten characters", () => {
    const ids = createIdSource({ wall: () => 1469918176385, random });
    expect(ids.next("sess").slice(5, 15)).toBe("01ARYZ6S41");
  });
});
