import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Database } from "../../system/sqlite/database.js";
import { normalized, toBits, toBytes } from "./quantize.js";
import { VectorIndex } from "./vector-index.js";

let folder: string;
let database: Database;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "oxbow-vectors-"));
  database = await Database.open({ path: join(folder, "v.db"), key: new Uint8Array(32) });
  database.run("CREATE TABLE codes (chunk INTEGER PRIMARY KEY, bits BLOB NOT NULL) STRICT");
  database.run("CREATE TABLE vectors (chunk INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT");
});

afterEach(() => {
  database.close();
  rmSync(folder, { recursive: true });
});

/** Numbers between -1 and 1, the same in each run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

function put(chunk: number, vector: ArrayLike<number>): Float32Array {
  const unit = normalized(vector);
  database.run("INSERT OR REPLACE INTO codes VALUES (?, ?)", [chunk, toBits(unit)]);
  database.run("INSERT OR REPLACE INTO vectors VALUES (?, ?)", [chunk, toBytes(unit)]);
  return unit;
}

const dot = (one: Float32Array, other: Float32Array) =>
  one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);

function fill(count: number, dimensions: number): Map<number, Float32Array> {
  const next = numbers(dimensions);
  // The ids have gaps, and do not begin with the place in memory.
  return new Map(
    Array.from({ length: count }, (_, at) => {
      const chunk = 3 * at + 100;
      return [chunk, put(chunk, Array.from({ length: dimensions }, next))] as const;
    }),
  );
}

describe("[X6] the nearest vectors", () => {
  it.each([
    [20, 8],
    [300, 40],
    [3000, 64],
    [3000, 96],
  ])("of %i with %i dimensions are those of an exact search, the nearest first", (count, dimensions) => {
    const all = fill(count, dimensions);
    const index = new VectorIndex(database);
    const next = numbers(5);
    for (let question = 0; question < 5; question++) {
      const query = normalized(Array.from({ length: dimensions }, next));
      const exact = [...all].map(([chunk, vector]) => ({ chunk, cosine: dot(query, vector) }));
      exact.sort((one, other) => other.cosine - one.cosine);
      const found = index.nearest(query, 10, 1);
      expect(found.map(({ cosine }) => cosine)).toEqual(found.map(({ cosine }) => cosine).sort((a, b) => b - a));
      // A byte for each dimension may swap neighbours.
      const wanted = new Set(exact.slice(0, 12).map(({ chunk }) => chunk));
      expect(found.filter(({ chunk }) => wanted.has(chunk)).length).toBeGreaterThanOrEqual(9);
      for (const { chunk, cosine } of found) expect(cosine).toBeCloseTo(dot(query, all.get(chunk) as Float32Array), 1);
    }
  });

  it("come from a first choice by signs that is no larger than needed", () => {
    const all = fill(6000, 32);
    const asked: number[] = [];
    const index = new VectorIndex(database);
    const cosines = index.cosines.bind(index);
    index.cosines = (query, chunks) => {
      asked.push(chunks.length);
      return cosines(query, chunks);
    };
    const query = all.get(100) as Float32Array;
    expect(index.nearest(query, 1, 1)[0]?.chunk).toBe(100);
    expect(index.nearest(query, 100, 1)).toHaveLength(100);
    expect(asked).toEqual([256, 500]);
  });

  it("weigh the signs by the query: a large term counts more than many small ones", () => {
    // All but the first dimension disagree, and still the first vectors are nearer.
    const query = normalized([100, ...Array<number>(31).fill(1)]);
    const near = [...Array(300).keys()].map((at) => at + 1);
    for (const chunk of near) put(chunk, [100, ...Array.from({ length: 31 }, (_, at) => (at < 20 ? -1 : 1))]);
    for (let chunk = 1001; chunk <= 1600; chunk++) put(chunk, [-100, ...Array<number>(31).fill(1)]);
    const found = new VectorIndex(database).nearest(query, 256, 1);
    expect(found).toHaveLength(256);
    expect(found.every(({ chunk }) => chunk <= 300)).toBe(true);
  });

  it("are read again when the store has changed, and only then", () => {
    put(1, [1, 0, 0]);
    const index = new VectorIndex(database);
    const query = normalized([0, 1, 0]);
    const ids = (version: number) => index.nearest(query, 5, version).map(({ chunk }) => chunk);
    expect(ids(1)).toEqual([1]);
    put(2, [0, 1, 0]);
    expect([ids(1), ids(2)]).toEqual([[1], [2, 1]]);
    database.run("DELETE FROM codes WHERE chunk = 1");
    expect(ids(3)).toEqual([2]);
    database.run("DELETE FROM codes");
    expect(ids(4)).toEqual([]);
  });

  it("leave out vectors of another length, and those without a direction", () => {
    put(1, [1, 1, 0]);
    put(
      2,
      Array.from({ length: 40 }, () => 1),
    );
    put(3, [0, 0, 0]);
    put(4, [1, 0, 0, 1]);
    database.run("INSERT INTO codes VALUES (5, ?)", [toBits(normalized([1, 1, 1]))]);
    const index = new VectorIndex(database);
    const query = normalized([1, 1, 0]);
    expect(index.nearest(query, 9, 1)).toMatchObject([{ chunk: 1 }]);
    expect(index.cosines(query, [1, 2, 3, 4, 5, 6])).toMatchObject([{ chunk: 1 }]);
  });

  it("are read in portions", () => {
    database.run(
      "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 25000) INSERT INTO codes SELECT x * 2, ? FROM n",
      [toBits(normalized([-1, -1]))],
    );
    put(20_000, [1, 1]);
    put(50_000, [1, 1]);
    const found = new VectorIndex(database).nearest(normalized([1, 1]), 3, 1);
    expect(found.map(({ chunk }) => chunk).sort()).toEqual([20_000, 50_000]);
  });
});
