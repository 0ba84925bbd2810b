/** Which provider is ready without being asked for (feature M5). */
import type { ModelListing } from "../../providers/model-list.js";
import type { NamedProvider } from "../../providers/named.js";
import { type ModelParts, OFFLINE } from "./model-parts.js";

/** A server on this machine answers at once or not at all. */
const PROBE_MS = 500;

/** Keys first, because that costs nothing to find out; then a server on this machine. */
export async function firstReadyName(parts: ModelParts): Promise<string> {
  const { directory } = parts;
  const withKey = directory.list().find((provider) => provider.keyName !== undefined && directory.isReady(provider));
  if (withKey !== undefined) return withKey.name;
  const ollama = directory.find("ollama");
  const models = ollama === undefined ? [] : await probeModels(parts, ollama);
  return models.length > 0 ? "ollama" : OFFLINE;
}

/** Empty when there is no server. */
export async function probeModels(parts: ModelParts, provider: NamedProvider): Promise<readonly string[]> {
  const listing = await listOf(parts, provider, PROBE_MS);
  return listing.ok ? listing.models.map((model) => model.id) : [];
}

export async function listOf(
  { directory, http }: ModelParts,
  provider: NamedProvider,
  timeoutMs: number,
): Promise<ModelListing> {
  const { listModels } = await import("../../providers/model-list.js");
  return listModels(provider.wire, directory.endpoint(provider), { http, timeoutMs });
}
