/**
 * The list of a provider with prices of its own (OpenRouter), kept in a file: it is long, every process needs it for its costs, and it
 * changes rarely. A list that is older than its time is fetched again; it stays in use while the provider does not answer.
 */
import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../base/clock.js";
import { writeFileAtomic } from "../system/atomic-file.js";
import { nodeClock } from "../system/node-clock.js";
import type { Endpoint } from "./http-model.js";
import { type ListedModel, type ListOptions, listModels, type ModelListing } from "./model-list.js";
import type { WireName } from "./named.js";
import { reportsCost } from "./wire/reported-cost.js";

const FRESH_MS = 6 * 60 * 60 * 1000;

export interface KeptListOptions extends ListOptions {
  /** The state folder; without one nothing is kept. */
  readonly state?: string | undefined;
  readonly clock?: Pick<Clock, "wall">;
}

/** The folder of the lists; `oxbow models --refresh` removes it. */
export function keptLists(state: string): string {
  return join(state, "model-lists");
}

/** Lists the models of any provider; only long lists with prices are kept. */
export async function keptOrListed(
  wire: WireName,
  endpoint: Endpoint,
  { state, clock = nodeClock, ...options }: KeptListOptions,
): Promise<ModelListing> {
  if (state === undefined || !reportsCost({ family: endpoint.family, url: endpoint.baseUrl })) {
    return listModels(wire, endpoint, options);
  }
  const name = createHash("sha256").update(endpoint.baseUrl).digest("hex").slice(0, 16);
  const file = join(keptLists(state), `${name}.json`);
  const kept = await read(file);
  const age = kept === undefined ? undefined : clock.wall() - kept.at;
  if (kept !== undefined && age !== undefined && age >= 0 && age < FRESH_MS) return { ok: true, models: kept.models };
  const listing = await listModels(wire, endpoint, options);
  if (!listing.ok) return kept === undefined ? listing : { ok: true, models: kept.models };
  await keep(file, { at: clock.wall(), models: listing.models });
  return listing;
}

interface Kept {
  readonly at: number;
  readonly models: readonly ListedModel[];
}

async function read(file: string): Promise<Kept | undefined> {
  try {
    const kept = JSON.parse(await readFile(file, "utf8")) as Partial<Kept> | null;
    return typeof kept?.at === "number" && Array.isArray(kept.models) ? (kept as Kept) : undefined;
  } catch {
    return undefined;
  }
}

/** Oxbow works without the file, for example on a full disk. */
async function keep(file: string, kept: Kept): Promise<void> {
  try {
    await mkdir(join(file, ".."), { recursive: true, mode: 0o700 });
    await writeFileAtomic(file, JSON.stringify(kept));
  } catch {}
}
