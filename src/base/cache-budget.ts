/**
 * Caches that share one limit of memory.
 *
 * 1. All caches together hold at most `limitBytes`. What was used least recently goes first, whichever cache it is in.
 * 2. A value that is larger than the limit is not kept.
 * 3. Sizes are estimates by the one who stores a value.
 */
export interface CacheFigures {
  readonly name: string;
  readonly entries: number;
  readonly bytes: number;
  readonly hits: number;
  readonly misses: number;
  readonly evictions: number;
}

interface Entry {
  readonly cache: Counts;
  readonly value: unknown;
  readonly bytes: number;
}

interface Counts {
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

  get figures(): readonly CacheFigures[] {
    return [...this.#caches].map(([name, counts]) => ({ name, ...counts }));
  }

  /** The cache with this name; the same one for the same name. */
  cache<V>(name: string): BudgetedCache<V> {
    const counts = this.#caches.get(name) ?? { entries: 0, bytes: 0, hits: 0, misses: 0, evictions: 0 };
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
    if (entry.bytes > this.limitBytes) {
      entry.cache.evictions += 1;
      return;
    }
    this.#entries.set(key, entry);
    this.#count(entry, 1);
    for (const [oldest, { cache }] of this.#entries) {
      if (this.#bytes <= this.limitBytes) break;
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
