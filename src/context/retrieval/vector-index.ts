/**
 * Finds the chunks whose vectors are nearest to another.
 *
 * 1. The sign bits of all vectors are in memory: 96 bytes for 768 dimensions. A scan counts how many differ from those of the query.
 * 2. Of the nearest by that count, the bytes of the vectors are read and give the cosine.
 * 3. The bits are read again when another process has changed the store.
 */
import type { Database } from "../../system/sqlite/database.js";
import { cosine, toBits } from "./quantize.js";

export interface NearChunk {
  readonly chunk: number;
  readonly cosine: number;
}

/** Sets how many are compared exactly for each one that is wanted, and how many at least. */
const OVERSAMPLING = 5;
const LEAST_COMPARED = 256;
/** Sets how many more are compared by their signs. */
const ROUGH = 8;
/** Rows that are read in one go. */
const PORTION = 10_000;

export class VectorIndex {
  readonly #database: Database;
  #version = -1;
  #ids = new Int32Array(0);
  #codes = new Uint8Array(0);
  /** For the distances of one question after the other. */
  #room = new Uint16Array(0);

  constructor(database: Database) {
    this.#database = database;
  }

  /** The nearest first. `version` is the state of the store. */
  nearest(query: Float32Array, most: number, version: number): readonly NearChunk[] {
    if (version !== this.#version) this.#load(query.length, version);
    const compared = Math.max(LEAST_COMPARED, most * OVERSAMPLING);
    const near = this.cosines(query, this.#candidates(query, compared));
    return near.sort((one, other) => other.cosine - one.cosine).slice(0, most);
  }

  /** Of these chunks; those without a vector, or with one that has no direction, are left out. */
  cosines(query: Float32Array, chunks: readonly number[]): NearChunk[] {
    const rows = this.#database.selectMany(
      { chunk: "integer", bytes: "bytes" },
      "FROM vectors WHERE chunk IN (SELECT value FROM json_each(?))",
      [JSON.stringify(chunks)],
    );
    return rows
      .filter(({ bytes }) => bytes.length === query.length && bytes.some((byte) => byte !== 0))
      .map(({ chunk, bytes }) => ({ chunk, cosine: cosine(query, bytes) }));
  }

  #load(dimensions: number, version: number): void {
    const bytes = bytesFor(dimensions);
    const count = this.#database.first({ count: ["integer", "count(*)"] }, "FROM codes")?.count ?? 0;
    this.#ids = new Int32Array(count);
    this.#codes = new Uint8Array(count * bytes);
    let [filled, last] = [0, 0];
    while (filled < count) {
      const row = this.#database.first(
        { ids: ["text?", "group_concat(chunk)"], bits: ["bytes?", "group_concat(bits, '')"] },
        "FROM (SELECT chunk, bits FROM codes WHERE chunk > ? AND length(bits) = ? ORDER BY chunk LIMIT ?)",
        [last, bytes, Math.min(PORTION, count - filled)],
      );
      if (row?.ids === undefined || row.bits === undefined) break;
      const ids = row.ids.split(",");
      for (const [i, id] of ids.entries()) this.#ids[filled + i] = Number(id);
      this.#codes.set(row.bits, filled * bytes);
      filled += ids.length;
      last = Number(ids.at(-1));
    }
    // Those of another length do not count.
    this.#ids = this.#ids.slice(0, filled);
    this.#version = version;
  }

  /** The ids of `most` chunks at most: the fewest differing signs first, then the best products of the query with the signs. */
  #candidates(query: Float32Array, most: number): readonly number[] {
    const bytes = bytesFor(query.length);
    const rough = this.#fewestDifferences(toBits(query), most * ROUGH);
    const table = sumsOfSigns(query, bytes);
    // Typed arrays: objects for each of them would be garbage after every question.
    const scores = new Float32Array(rough.length);
    for (let i = 0; i < rough.length; i++) {
      let score = 0;
      for (let byte = 0, at = (rough[i] as number) * bytes; byte < bytes; byte++, at++) {
        score += table[(byte << 8) | (this.#codes[at] as number)] as number;
      }
      scores[i] = score;
    }
    const order = Uint32Array.from(scores.keys()).sort(
      (one, other) => (scores[other] as number) - (scores[one] as number),
    );
    return Array.from(order.subarray(0, most), (i) => this.#ids[rough[i] as number] as number);
  }

  #fewestDifferences(query: Uint8Array, most: number): Int32Array {
    const { distances, counts } = this.#distances(query);
    let [limit, within] = [0, counts[0] as number];
    while (within < most && limit < counts.length - 1) within += counts[++limit] as number;
    // Of those at the limit only as many as there is room for.
    let room = most - (within - (counts[limit] as number));
    const found = new Int32Array(Math.min(most, distances.length));
    let filled = 0;
    for (let i = 0; i < distances.length; i++) {
      const distance = distances[i] as number;
      if (distance < limit || (distance === limit && room-- > 0)) found[filled++] = i;
    }
    return found.subarray(0, filled);
  }

  #distances(query: Uint8Array): { readonly distances: Uint16Array; readonly counts: Uint32Array } {
    const [asked, codes] = [inWords(query), inWords(this.#codes)];
    const words = asked.length;
    const distances = this.#room.length === this.#ids.length ? this.#room : new Uint16Array(this.#ids.length);
    this.#room = distances;
    const counts = new Uint32Array(words * 32 + 1);
    for (let i = 0, at = 0; i < distances.length; i++) {
      let distance = 0;
      for (let word = 0; word < words; word++, at++) {
        // The number of set bits of a word.
        let x = (asked[word] as number) ^ (codes[at] as number);
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

function inWords({ buffer, byteOffset, byteLength }: Uint8Array): Int32Array {
  return new Int32Array(buffer, byteOffset, byteLength >> 2);
}

function bytesFor(dimensions: number): number {
  return Math.ceil(dimensions / 32) * 4;
}

/** At 256 times the place of a byte: for each of its values, the terms of set bits less those of the others. */
function sumsOfSigns(query: Float32Array, bytes: number): Float32Array {
  const table = new Float32Array(bytes * 256);
  for (let byte = 0; byte < bytes; byte++) {
    for (let value = 0; value < 256; value++) {
      let sum = 0;
      for (let bit = 0; bit < 8; bit++) {
        const term = query[byte * 8 + bit] ?? 0;
        sum += (value >> bit) & 1 ? term : -term;
      }
      table[(byte << 8) | value] = sum;
    }
  }
  return table;
}
