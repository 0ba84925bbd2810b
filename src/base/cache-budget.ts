/**
 * Caches that share one limit of memory.
 *
 * 1. All caches together hold at most `limitBytes`. What was used least recently goes first, whichever cache it is in.
 * 2. Each cache has a share of that limit, so that one cannot push out all others. A value that is larger than the share is not kept.
 * 3. Sizes are estimates by the code that stores a value.
 */
import type { CacheInfo } from "../protocol/health-info.js";

interface Entry {
  readonly cache: Counts;
  readonly value: unknown;
  readonly bytes: number;
}

interface Counts {
  readonly limitBytes: number;
  entries: number;
  bytes: number;
  hits: number;
  misses: number;
  evictions: number;
}

export interface BudgetedCache<V> {
  get(key: string): V | undefined;
  set(key: string, value: V, bytes: number): void;
  delete(key: string): void;
}

const LIMIT_BYTES = 32 * 1024 * 1024;
/** Of the limit, for one cache. */
const SHARE = 0.5;

export class CacheBudget {
  readonly limitBytes: number;
  readonly #caches = new Map<string, Counts>();
  /** The least recently used first. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(limitBytes = LIMIT_BYTES) {
    this.limitBytes = limitBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get figures(): readonly CacheInfo[] {
    return [...this.#caches].map(([name, { limitBytes: _limit, ...counts }]) => ({ name, ...counts }));
  }

  /** The cache with this name; the same one for the same name, with the share of the first call. */
  cache<V>(name: string, { share = SHARE }: { readonly share?: number } = {}): BudgetedCache<V> {
    const limitBytes = this.limitBytes * share;
    const counts = this.#caches.get(name) ?? { limitBytes, entries: 0, bytes: 0, hits: 0, misses: 0, evictions: 0 };
    this.#caches.set(name, counts);
    const full = (key: string) => `${name}\n${key}`;
    return {
      get: (key) => this.#get(full(key), counts) as V | undefined,
      set: (key, value, bytes) => this.#set(full(key), { cache: counts, value, bytes }),
      delete: (key) => this.#delete(full(key)),
    };
  }

  #get(key: string, counts: Counts): unknown {
    const entry = this.#entries.get(key);
    if (entry === undefined) counts.misses += 1;
    else {
      counts.hits += 1;
      this.#entries.delete(key);
      this.#entries.set(key, entry);
    }
    return entry?.value;
  }

  #set(key: string, entry: Entry): void {
    this.#delete(key);
    const { cache: own } = entry;
    if (entry.bytes > own.limitBytes) {
      own.evictions += 1;
      return;
    }
    this.#entries.set(key, entry);
    this.#count(entry, 1);
    for (const [oldest, { cache }] of this.#entries) {
      const isOver = own.bytes > own.limitBytes;
      if (!isOver && this.#bytes <= this.limitBytes) break;
      if (isOver && cache !== own) continue;
      this.#delete(oldest);
      cache.evictions += 1;
    }
  }

  #delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#count(entry, -1);
  }

  #count({ cache, bytes }: Entry, sign: 1 | -1): void {
    cache.entries += sign;
    cache.bytes += sign * bytes;
    this.#bytes += sign * bytes;
  }
}

/** The budget of this process. */
export const processCaches = new CacheBudget();

/** The file names of a large tree take most. */
const SHARES = {
  "instruction files": 0.5,
  "skill bodies": 0.5,
  "extension files": 0.5,
  "MCP schemas": 0.5,
  "model catalogue": 0.5,
  "file names": 0.75,
} as const;

export type CacheName = keyof typeof SHARES;

// All are there from the start, so that their counters show also what was never used.
for (const [name, share] of Object.entries(SHARES)) processCaches.cache(name, { share });

export function processCache<V>(name: CacheName): BudgetedCache<V> {
  return processCaches.cache<V>(name);
}
