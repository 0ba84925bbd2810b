/** Describes the state of an engine. */

/** A cache of the engine: its size now, and how often it helped. */
export interface CacheInfo {
  readonly name: string;
  readonly entries: number;
  readonly bytes: number;
  readonly hits: number;
  readonly misses: number;
  readonly evictions: number;
}

export interface HealthInfo {
  readonly version: string;
  readonly protocol_version: string;
  readonly pid: number;
  readonly started_at: string;
  /** Sessions that are open now. */
  readonly sessions: number;
  readonly clients: number;
  readonly caches?: { readonly limit_bytes: number; readonly bytes: number; readonly each: readonly CacheInfo[] };
  /** The state of each part of the engine, by its name. */
  readonly parts?: Readonly<Record<string, { readonly ok: boolean; readonly detail: string }>>;
}
