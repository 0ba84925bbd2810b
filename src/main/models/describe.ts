/** What every provider offers now, and why the others do not: for `oxbow models`, `/model` and `oxbow doctor`. */
import type { NamedProvider } from "../../providers/named.js";
import { type ModelParts, OFFLINE } from "./model-parts.js";
import { listOf } from "./probe.js";

const LIST_MS = 5000;

export interface ProviderState {
  readonly name: string;
  readonly baseUrl: string;
  readonly ready: boolean;
  /** Why not, and what to do; or how it is reached. */
  readonly detail: string;
  readonly models: readonly string[];
}

export async function providerStates(parts: ModelParts): Promise<readonly ProviderState[]> {
  const named = await Promise.all(parts.directory.list().map((provider) => stateOf(parts, provider)));
  const offline = {
    name: OFFLINE,
    baseUrl: "",
    ready: true,
    detail: "built in: rules, no language model",
    models: [OFFLINE],
  };
  return [...named, offline];
}

export function describeStates(states: readonly ProviderState[]): string {
  const lines = states.flatMap((state) => {
    if (!state.ready) return [`${state.name}: not ready: ${state.detail}`];
    const shown = state.models.map((model) => `  ${state.name}:${model}`);
    return [`${state.name}: ${state.detail}`, ...(shown.length > 0 ? shown : ["  (no models found)"])];
  });
  return lines.join("\n");
}

async function stateOf(parts: ModelParts, provider: NamedProvider): Promise<ProviderState> {
  const { directory } = parts;
  const { baseUrl } = directory.endpoint(provider);
  const base = { name: provider.name, baseUrl };
  if (!directory.isReady(provider)) return { ...base, ready: false, detail: `set ${provider.keyName}`, models: [] };
  const listing = await listOf(parts, provider, LIST_MS);
  if (!listing.ok) return { ...base, ready: false, detail: listing.failure.message, models: [] };
  return { ...base, ready: true, detail: baseUrl, models: listing.models.map((model) => model.id) };
}
