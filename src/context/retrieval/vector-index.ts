/**
 * Finds the chunks whose vectors are nearest to another.
 *
 * 1. The sign bits of all vectors are in memory: 96 bytes for 768 dimensions. A scan counts how many differ.
 * 2. Of the nearest by that count, the bytes of the vectors are read and give the cosine.
 * 3. The bits are read again when another process has changed the store.
 */
import type { Database } from "../../system/sqlite/database.js";
import { cosine, toBits } from "./quantize.js";

export interface NearChunk {
  readonly chunk: number;
  readonly cosine: number;
}

/** How many are compared exactly for each one that is wanted, and how many at least. */
const OVERSAMPLING = 8;
const LEAST_COMPARED = 300;
/** Rows that are read in one go. */
const PORTION = 20_000;

export class VectorIndex {
  readonly #database: Database;
  #version = -1;
  #ids = new Int32Array(0);
  #bits = new Int32Array(0);

  constructor(database: Database) {
    this.#database = database;
  }

  /** The nearest first. `version` is the state of the store. */
  nearest(query: Float32Array, most: number, version: number): readonly NearChunk[] {
    if (version !== this.#version) this.#load(query.length, version);
    const compared = Math.max(LEAST_COMPARED, most * OVERSAMPLING);
    const near = this.cosines(query, this.#candidates(toBits(query), compared));
    return near.sort((one, other) => other.cosine - one.cosine).slice(0, most);
  }

  /** Of these chunks; those without a vector are left out. */
  cosines(query: Float32Array, chunks: readonly number[]): NearChunk[] {
    const rows = this.#database.select(
      { chunk: "integer", bytes: "bytes" },
      "FROM vectors WHERE chunk IN (SELECT value FROM json_each(?))",
      [JSON.stringify(chunks)],
    );
    return rows
      .filter(({ bytes }) => bytes.length === query.length)
      .map(({ chunk, bytes }) => ({ chunk, cosine: cosine(query, bytes) }));
  }

  #load(dimensions: number, version: number): void {
    const words = Math.ceil(dimensions / 32);
    const count = this.#database.first({ count: ["integer", "count(*)"] }, "FROM codes")?.count ?? 0;
    this.#ids = new Int32Array(count);
    this.#bits = new Int32Array(count * words);
    const target = new Uint8Array(this.#bits.buffer);
    let [filled, last] = [0, 0];
    while (filled < count) {
      const row = this.#database.first(
        { ids: ["text?", "group_concat(chunk)"], bits: ["bytes?", "group_concat(bits, '')"] },
        "FROM (SELECT chunk, bits FROM codes WHERE chunk > ? AND length(bits) = ? ORDER BY chunk LIMIT ?)",
        [last, words * 4, Math.min(PORTION, count - filled)],
      );
      if (row?.ids === undefined || row.bits === undefined) break;
      const ids = row.ids.split(",");
      for (const [i, id] of ids.entries()) this.#ids[filled + i] = Number(id);
      target.set(row.bits, filled * words * 4);
      filled += ids.length;
      last = Number(ids.at(-1));
    }
    if (filled < count) {
      this.#ids = this.#ids.slice(0, filled);
      this.#bits = this.#bits.slice(0, filled * words);
    }
    this.#version = version;
  }

  /** The ids of about `most` chunks with the fewest differing bits. */
  #candidates(query: Int32Array, most: number): readonly number[] {
    const { distances, counts } = this.#distances(query);
    let [limit, within] = [0, counts[0] as number];
    while (within < most && limit < counts.length - 1) within += counts[++limit] as number;
    // Of those at the limit only as many as there is room for.
    let atLimit = most - (within - (counts[limit] as number));
    const found: number[] = [];
    for (let i = 0; i < distances.length; i++) {
      const distance = distances[i] as number;
      if (distance < limit || (distance === limit && atLimit-- > 0)) found.push(this.#ids[i] as number);
    }
    return found;
  }

  #distances(query: Int32Array): { readonly distances: Uint16Array; readonly counts: Uint32Array } {
    const bits = this.#bits;
    const words = query.length;
    const distances = new Uint16Array(this.#ids.length);
    const counts = new Uint32Array(words * 32 + 1);
    for (let i = 0, at = 0; i < distances.length; i++) {
      let distance = 0;
      for (let word = 0; word < words; word++, at++) {
        // The number of set bits of a word.
        let x = (query[word] as number) ^ (bits[at] as number);
        x -= (x >>> 1) & 0x55555555;
        x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
        distance += Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
      }
      distances[i] = distance;
      counts[distance] = (counts[distance] as number) + 1;
    }
    return { distances, counts };
  }
}
