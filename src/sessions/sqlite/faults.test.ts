import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from "vitest";
import { buildChildPrograms, type ChildPrograms } from "../../../test/support/child-programs.js";
import { times } from "../../../test/support/thorough.js";
import { verifies } from "../../../test/verifies.js";
import type { Envelope } from "../../protocol/envelope.js";
import { withoutContent } from "../expired.js";
import { openSqliteStore } from "./sqlite-store.js";
import { SAMPLE_KEY, sampleEvents, sampleSession, sampleSnapshot } from "./test-support/sample.js";

const KILLS = times(8, 32);
/** The store finishes the rest without a kill. */
const EXPIRY_KILLS = times(2, 5);
const AT_ONCE = 4;
const KILLS_PER_DATABASE = 9;
const SEED = 20260131;
/** Many processes one after another, on a machine that may be busy with others. */
const SLOW_MS = 120_000;
let folder: string;
let children: ChildPrograms;

beforeAll(async () => {
  children = await buildChildPrograms(import.meta.url, "writer", "rival", "expirer", "flip");
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
      let told = 0;
      const rounds = Array.from({ length: AT_ONCE }, async (_, index) => {
        for (let kill = 0; kill < KILLS / AT_ONCE; kill++) {
          const path = join(folder, `${index}-${Math.floor(kill / KILLS_PER_DATABASE)}.db`);
          const child = children.start("writer", path, "1", "1000000");
          // Some die while they open, most while they write.
          const early = (kill * AT_ONCE + index) % 5 === 0;
          if (!early) await new Promise((resolve) => child.process.stdout?.once("data", resolve));
          await new Promise((resolve) => setTimeout(resolve, random() * (early ? 150 : 25)));
          child.process.kill("SIGKILL");
          const { out, err } = await child.end;
          expect(err).toBe("");
          const known = acknowledged(out);
          await check(path, 1, known);
          if (known.events > 0 || known.intended.length > 0) told += 1;
        }
      });
      await Promise.all(rounds);
      expect(told).toBeGreaterThan(KILLS / 2);
    },
    SLOW_MS,
  );

  verifies(
    ["S5", "S11"],
    "a process that is killed while content expires leaves a whole session",
    async () => {
      const random = seededRandom(SEED);
      const path = join(folder, "expiring.db");
      const session = sampleSession(1);
      const events = sampleEvents(session.id, 1, times(700, 5000));
      const made = await openSqliteStore({ path, key: SAMPLE_KEY });
      await made.create(session);
      await made.append(session.id, events, "sync");
      await made.close();
      let expired = 0;
      for (let kill = 0; kill <= EXPIRY_KILLS; kill++) {
        const child = children.start("expirer", path, `${events.length}`);
        await new Promise((resolve) => child.process.stdout?.once("data", resolve));
        await new Promise((resolve) => setTimeout(resolve, random() * 60));
        child.process.kill("SIGKILL");
        expect((await child.end).err).toBe("");
        const store = await openSqliteStore({ path, key: SAMPLE_KEY });
        // The last one is not killed: it finishes what the others began.
        if (kill === EXPIRY_KILLS) await store.expire(session.id, events.length);
        const before = expired;
        expired = (await store.get(session.id))?.expired_to ?? 0;
        expect(expired).toBeGreaterThanOrEqual(before);
        expect(await store.verify(session.id)).toEqual({ ok: true, events: events.length });
        const read: Envelope[] = [];
        for await (const event of store.events(session.id)) read.push(event);
        const expected = events.map((event) => (event.id <= expired ? withoutContent(event) : event));
        expect(isDeepStrictEqual(read, expected)).toBe(true);
        await store.close();
      }
      expect(expired).toBe(events.length);
    },
    SLOW_MS,
  );

  verifies(["S1"], "several processes write at once and lose nothing", async () => {
    const path = join(folder, "shared.db");
    const seeds = [1, 2, 3];
    const written = times(60, 400);
    let running = true;
    const all = Promise.all(seeds.map((seed) => children.start("writer", path, `${seed}`, `${written}`).end)).finally(
      () => {
        running = false;
      },
    );
    // A reader in the middle finds nothing wrong.
    const onlooker = await openSqliteStore({ path, key: SAMPLE_KEY });
    while (running) {
      for (const { id } of await onlooker.list()) expect(await onlooker.verify(id)).toMatchObject({ ok: true });
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await onlooker.close();
    const ends = await all;
    for (const [i, { code, out, err }] of ends.entries()) {
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(acknowledged(out).events).toBe(written);
      await check(path, seeds[i] as number, acknowledged(out));
    }
  });

  verifies(
    ["S1"],
    "several processes write to the same session: one is first, the others get a conflict, nothing is lost",
    async () => {
      const path = join(folder, "rivals.db");
      const session = sampleSession(1);
      const store = await openSqliteStore({ path, key: SAMPLE_KEY });
      await store.create(session);
      const names = ["anna", "bert", "carl"];
      const each = times(12, 60);
      const all = names.length * each;
      const ends = await Promise.all(names.map((name) => children.start("rival", path, name, `${each}`).end));
      const writers = new Map<number, string>();
      let conflicts = 0;
      for (const [i, { code, out, err }] of ends.entries()) {
        expect({ code, err }).toEqual({ code: 0, err: "" });
        const printed = JSON.parse(out) as { readonly written: readonly number[]; readonly conflicts: number };
        for (const id of printed.written) {
          expect(writers.has(id), `event ${id} was acknowledged twice`).toBe(false);
          writers.set(id, names[i] as string);
        }
        conflicts += printed.conflicts;
      }
      expect(conflicts).toBeGreaterThan(0);
      const read: unknown[] = [];
      for await (const { payload } of store.events(session.id)) read.push(payload);
      expect(read).toEqual(Array.from({ length: all }, (_, i) => ({ text: `${writers.get(i + 1)} ${i + 1}` })));
      expect(await store.verify(session.id)).toEqual({ ok: true, events: all });
      await store.close();
    },
  );

  verifies(
    ["S11"],
    "a changed byte anywhere in the file is found or harmless",
    async () => {
      const store = await openSqliteStore({ path: join(folder, "made.db"), key: SAMPLE_KEY });
      const session = sampleSession(1);
      await store.create(session);
      await store.append(session.id, sampleEvents(session.id, 1, 210), "sync");
      await store.expire(session.id, 90);
      await store.keepSnapshot?.(session.id, sampleSnapshot(90, 207));
      await store.close();
      await copyFile(join(folder, "made.db"), join(folder, "whole.db"));
      const { code, signal, out, err } = await children.start(
        "flip",
        folder,
        `${SEED}`,
        `${times(45, 250)}`,
        "210",
        "90",
      ).end;
      expect({ code, signal }, `the flip at ${err.split("\n").at(-2)}`).toEqual({ code: 0, signal: null });
      const counts = JSON.parse(out);
      expect(counts).toMatchObject({ wrong: 0 });
      expect(counts.refused + counts.found).toBeGreaterThan(times(7, 30));
    },
    SLOW_MS,
  );
});
