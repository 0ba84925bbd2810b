/** The size of a model's key-value cache, computed from the metadata in its file. */
import type { JsonObject, JsonValue } from "../../protocol/json.js";
import { asList, asNumber } from "../wire/fields.js";

export interface CacheShape {
  readonly bytesPerToken: number;
}

/** Two bytes a number: Ollama's default. A quantized cache takes less, but the server does not report it. */
const BYTES_PER_NUMBER = 2;
/** With a sliding window most layers keep only that much. The number of such layers varies; half of them is a safe assumption. */
const SLIDING_SHARE = 0.5;

/** Undefined if the metadata lacks a value. */
export function readCacheShape(info: JsonObject): CacheShape | undefined {
  const architecture = info["general.architecture"];
  if (typeof architecture !== "string") return undefined;
  const fact = (name: string) => asNumber(info[`${architecture}.${name}`]);
  const layers = fact("block_count");
  if (layers === undefined || layers < 1) return undefined;
  // Latent attention keeps one compressed vector a layer instead of one a head.
  const rank = fact("attention.kv_lora_rank");
  if (rank !== undefined) {
    return { bytesPerToken: layers * (rank + (fact("rope.dimension_count") ?? 0)) * BYTES_PER_NUMBER };
  }
  const heads = fact("attention.head_count");
  const width = fact("embedding_length");
  const headWidth = heads !== undefined && width !== undefined && heads > 0 ? width / heads : undefined;
  const key = fact("attention.key_length") ?? headWidth;
  const value = fact("attention.value_length") ?? headWidth;
  const kvHeads = headsOfAllLayers(info[`${architecture}.attention.head_count_kv`], layers) ?? (heads ?? 0) * layers;
  if (key === undefined || value === undefined || kvHeads === 0) return undefined;
  const share = fact("attention.sliding_window") === undefined ? 1 : SLIDING_SHARE;
  return { bytesPerToken: Math.ceil(kvHeads * (key + value) * BYTES_PER_NUMBER * share) };
}

/** One number for every layer, or a list with one for each: zero where a layer has no attention. */
function headsOfAllLayers(value: JsonValue | undefined, layers: number): number | undefined {
  if (Array.isArray(value)) return asList(value).reduce<number>((sum, heads) => sum + (asNumber(heads) ?? 0), 0);
  const heads = asNumber(value);
  return heads === undefined ? undefined : heads * layers;
}

export interface MemoryFacts {
  readonly availableBytes: number;
  /** The size of a model that is not loaded yet; 0 if it is in memory already. */
  readonly weightBytes: number;
  readonly cache: CacheShape;
}

/** The share of the memory that other programs keep. */
const RESERVE_SHARE = 0.1;

/** Counts how many tokens of context fit into memory beside the model; may be 0 or less. */
export function contextThatFits({ availableBytes, weightBytes, cache }: MemoryFacts): number {
  return Math.floor((availableBytes * (1 - RESERVE_SHARE) - weightBytes) / cache.bytesPerToken);
}
