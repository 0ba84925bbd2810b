/**
 * Servers that need no key: those on this machine at their default ports, and those that the user describes.
 *
 * 1. Oxbow probes all addresses at once, each address once, with a short time limit.
 * 2. Another program may listen on a default port: a server counts if it identifies itself, or if the user set its address.
 */
import type { ListedModel, ModelListing } from "../model-list.js";
import type { NamedProvider, WireName } from "../named.js";
import type { ModelParts } from "./model-parts.js";

/** A server on this machine answers at once or not at all. */
const PROBE_MS = 500;

export interface FoundServer {
  readonly provider: NamedProvider;
  readonly models: readonly ListedModel[];
}

export async function findServers(parts: ModelParts): Promise<readonly FoundServer[]> {
  const { directory } = parts;
  const candidates = directory.reachable().filter((provider) => isCandidate(parts, provider));
  const addresses = new Map<string, Promise<ModelListing>>();
  const listed = candidates.map(async (provider) => {
    const address = `${provider.wire} ${directory.endpoint(provider).baseUrl}`;
    const listing = addresses.get(address) ?? listOf(parts, provider, PROBE_MS);
    addresses.set(address, listing);
    return { provider, listing: await listing };
  });
  return (await Promise.all(listed)).flatMap(({ provider, listing }) => {
    const models = listing.ok && isItself(parts, provider, listing.models) ? listing.models.filter(canAnswer) : [];
    return models.length > 0 ? [{ provider, models }] : [];
  });
}

/** The same servers, with details of their models. */
export async function withAbilities(
  { directory, http }: ModelParts,
  servers: readonly FoundServer[],
): Promise<readonly FoundServer[]> {
  const { withDetails } = await import("../model-details.js");
  return Promise.all(
    servers.map(async ({ provider, models }) => {
      const kind = provider.wire === "ollama" ? "ollama" : provider.name;
      const options = { http, timeoutMs: PROBE_MS, models };
      return { provider, models: await withDetails(kind, directory.endpoint(provider), options) };
    }),
  );
}

export async function listOf(
  { directory, http, state }: ModelParts,
  provider: NamedProvider,
  timeoutMs: number,
): Promise<ModelListing> {
  const { keptOrListed } = await import("../kept-list.js");
  return keptOrListed(provider.wire satisfies WireName, directory.endpoint(provider), { http, timeoutMs, state });
}

/** Tells whether the program at a server's default port is that server. */
export function isItself({ directory }: ModelParts, provider: NamedProvider, models: readonly ListedModel[]): boolean {
  if (provider.owner === undefined || directory.endpoint(provider).baseUrl !== provider.baseUrl) return true;
  return provider.owner.test(models[0]?.owner ?? "");
}

function isCandidate({ directory }: ModelParts, provider: NamedProvider): boolean {
  if (provider.local) return true;
  const keyless = (provider.keyName === undefined && !provider.signIn) || provider.keyOptional === true;
  return keyless && !directory.hasKey(provider);
}

/** Servers also list embedding models, which cannot answer. */
function canAnswer({ id }: ListedModel): boolean {
  return !/embed/i.test(id);
}
