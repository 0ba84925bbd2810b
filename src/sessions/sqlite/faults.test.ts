import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import type { Envelope } from "../../protocol/envelope.js";
import { openSqliteStore } from "./sqlite-store.js";
import { buildChildPrograms, type ChildPrograms } from "./test-support/child-programs.js";
import { SAMPLE_KEY, sampleEvents, sampleSession } from "./test-support/sample.js";

const KILLS = 100;
const AT_ONCE = 4;
const KILLS_PER_DATABASE = 9;
const SEED = 20260131;
let folder: string;
let children: ChildPrograms;

beforeAll(async () => {
  children = await buildChildPrograms("writer", "flip");
});
afterAll(() => children.discard());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-faults-"));
});
afterEach(() => rm(folder, { recursive: true }));

function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Acknowledged {
  readonly events: number;
  readonly intended: readonly string[];
  readonly concluded: readonly string[];
}

function acknowledged(out: string): Acknowledged {
  // A line that was cut by the kill says nothing.
  const lines = out.slice(0, out.lastIndexOf("\n") + 1).split("\n");
  const of = (letter: string) => lines.filter((line) => line.startsWith(letter)).map((line) => line.slice(2));
  return { events: Number(of("e").at(-1) ?? 0), intended: of("i"), concluded: of("c") };
}

async function check(path: string, seed: number, known: Acknowledged): Promise<void> {
  const store = await openSqliteStore({ path, key: SAMPLE_KEY });
  const session = sampleSession(seed);
  const last = (await store.get(session.id))?.last_event;
  if (last === undefined) {
    expect(known).toEqual({ events: 0, intended: [], concluded: [] });
  } else {
    expect(last).toBeGreaterThanOrEqual(known.events);
    expect(await store.verify(session.id)).toEqual({ ok: true, events: last });
    const events: Envelope[] = [];
    for await (const event of store.events(session.id)) events.push(event);
    expect(isDeepStrictEqual(events, sampleEvents(session.id, 1, last))).toBe(true);
    const orphans = new Set((await store.orphans(session.id)).map(({ call }) => call as string));
    const ended = new Set(known.concluded);
    // The conclusion that was under way may have been written without having been acknowledged.
    const lost = known.intended.filter((call) => !ended.has(call) && !orphans.has(call));
    expect(lost.length).toBeLessThanOrEqual(1);
    expect(known.concluded.filter((call) => orphans.has(call))).toEqual([]);
  }
  await store.close();
}

describe("faults", () => {
  verifies(
    ["S1", "S3", "S11"],
    "a killed process loses nothing that was acknowledged",
    async () => {
      const random = seededRandom(SEED);
      const rounds = Array.from({ length: AT_ONCE }, async (_, index) => {
        for (let kill = 0; kill < KILLS / AT_ONCE; kill++) {
          const path = join(folder, `${index}-${Math.floor(kill / KILLS_PER_DATABASE)}.db`);
          const child = children.start("writer", path, "1", "1000000");
          // Some die while they open, most while they write.
          const early = kill % 5 === 0;
          if (!early) await new Promise((resolve) => child.process.stdout?.once("data", resolve));
          await new Promise((resolve) => setTimeout(resolve, random() * (early ? 150 : 25)));
          child.process.kill("SIGKILL");
          const { out, err } = await child.end;
          expect(err).toBe("");
          await check(path, 1, acknowledged(out));
        }
      });
      await Promise.all(rounds);
    },
    90_000,
  );

  verifies(["S1"], "several processes write at once and lose nothing", async () => {
    const path = join(folder, "shared.db");
    const seeds = [1, 2, 3];
    const ends = await Promise.all(seeds.map((seed) => children.start("writer", path, `${seed}`, "400").end));
    for (const [i, { code, out, err }] of ends.entries()) {
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(acknowledged(out).events).toBe(400);
      await check(path, seeds[i] as number, acknowledged(out));
    }
  });

  verifies(["S11"], "a changed byte anywhere in the file is found or harmless", async () => {
    const store = await openSqliteStore({ path: join(folder, "made.db"), key: SAMPLE_KEY });
    const session = sampleSession(1);
    await store.create(session);
    await store.append(session.id, sampleEvents(session.id, 1, 210), "sync");
    await store.close();
    await copyFile(join(folder, "made.db"), join(folder, "whole.db"));
    const { code, signal, out, err } = await children.start("flip", folder, `${SEED}`, "250", "210").end;
    expect({ code, signal }, `the flip at ${err.split("\n").at(-2)}`).toEqual({ code: 0, signal: null });
    const counts = JSON.parse(out);
    expect(counts).toMatchObject({ wrong: 0 });
    expect(counts.refused + counts.found).toBeGreaterThan(40);
  });
});
