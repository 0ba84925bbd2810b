/**
 * The texts of approved files, which the sessions of this process share.
 *
 * A text is kept by the hash that was approved. The file is still read each time, because one that was swapped since then must not be used.
 */
import { type CacheName, processCache } from "../../base/cache-budget.js";
import type { TrustedItem } from "./content.js";

type Read = (item: TrustedItem) => Promise<Uint8Array>;

export async function approvedText(item: TrustedItem, read: Read): Promise<string> {
  const cache = processCache<string>(cacheOf(item));
  const bytes = await read(item);
  const known = cache.get(item.sha256);
  if (known !== undefined) return known;
  // Replaces invalid bytes; the rest is still used.
  const text = new TextDecoder("utf-8").decode(bytes);
  cache.set(item.sha256, text, 2 * text.length + 200);
  return text;
}

function cacheOf({ kind }: TrustedItem): CacheName {
  if (kind === "instructions") return "instruction files";
  return kind === "skill" || kind === "skill-file" ? "skill bodies" : "extension files";
}
