/** The models of every provider, or why a provider is not ready: for `oxbow models`, `/model` and `oxbow doctor`. */

import { findProgram } from "../../system/find-program.js";
import { defaultModelOf } from "../catalogue/newest.js";
import type { ListedModel } from "../model-list.js";
import type { NamedProvider } from "../named.js";
import { isItself, listOf } from "./local-servers.js";
import { type ModelParts, OFFLINE } from "./model-parts.js";
import type { ProviderEntry } from "./provider-directory.js";

const LIST_MS = 5000;
/** The time limit for default ports, where there may be no server. An address that the user sets gets more time. */
const USUAL_PORT_MS = 500;

export interface ProviderState {
  readonly name: string;
  readonly baseUrl: string;
  readonly ready: boolean;
  /** The user configured it: a key, an address or a file. */
  readonly configured: boolean;
  /** The reason why it is not ready and what to do, or its address. */
  readonly detail: string;
  readonly models: readonly ListedModel[];
  /** It has a key, but the service cannot be reached now. */
  readonly unreached?: true;
}

/** In the order of preference; only the named provider, if there is a name. */
export async function providerStates(parts: ModelParts, only?: string): Promise<readonly ProviderState[]> {
  const entries = parts.directory.list().filter((entry) => only === undefined || entry.name === only);
  const states = await Promise.all(entries.map((entry) => stateOf(parts, entry)));
  if (only !== undefined && only !== OFFLINE) return states;
  const detail = "built in: rules, no language model";
  const offline = { name: OFFLINE, baseUrl: "", ready: true, configured: false, detail, models: [{ id: OFFLINE }] };
  return [...states, offline];
}

export interface OwnProvider {
  readonly name: string;
  readonly about: string;
  /** The variables that it reads, as its `--env` or its file names them. */
  readonly variables: readonly { readonly name: string; readonly description: string }[];
}

/** Describes the providers that the user added. Programs of a project are not asked: the help runs nothing that waits for approval. */
export async function ownProviderList(parts: ModelParts): Promise<readonly OwnProvider[]> {
  const described = parts.directory.list().map(async (entry): Promise<readonly OwnProvider[]> => {
    const { name } = entry;
    if (entry.kind === "broken") return [{ name, about: entry.problem, variables: [] }];
    if (entry.kind === "executable") {
      if (entry.ofProject) return [];
      const { meetProgram } = await import("./provider-programs.js");
      const { description, variables } = await meetProgram(parts, entry);
      const { variant } = entry;
      const key =
        variant?.keyName === undefined ? [] : [{ name: variant.keyName, description: `key for the ${name} provider` }];
      const about = variant?.description ?? (description === "" ? entry.file : description);
      return [{ name, about, variables: [...key, ...variables] }];
    }
    const { origin, baseUrl, keyName } = entry.provider;
    if (origin === undefined) return [];
    const variables = keyName === undefined ? [] : [{ name: keyName, description: `key for the ${name} provider` }];
    return [{ name, about: baseUrl, variables }];
  });
  return (await Promise.all(described)).flat();
}

async function stateOf(parts: ModelParts, entry: ProviderEntry): Promise<ProviderState> {
  const { name } = entry;
  if (entry.kind === "http") return stateByHttp(parts, entry.provider);
  const own = { name, baseUrl: "", configured: true, models: [] };
  if (entry.kind === "broken") return { ...own, ready: false, detail: entry.problem };
  const { meetProgram } = await import("./provider-programs.js");
  const { ready, reason, description, defaults } = await meetProgram(parts, entry);
  if (!ready) return { ...own, ready, detail: reason ?? `${entry.file} --ready says no` };
  const { model = name, maxContextTokens } = { ...defaults, ...entry.variant };
  const about = entry.variant?.description ?? description;
  const detail = about === "" ? entry.file : `${about} (${entry.variant?.origin ?? entry.file})`;
  return {
    ...own,
    ready,
    detail,
    models: [{ id: model, ...(maxContextTokens !== undefined && { maxContextTokens }) }],
  };
}

async function stateByHttp(parts: ModelParts, provider: NamedProvider): Promise<ProviderState> {
  const { directory, http } = parts;
  const endpoint = directory.endpoint(provider);
  const moved = endpoint.baseUrl !== provider.baseUrl;
  const configured = directory.hasKey(provider) || provider.origin !== undefined || (moved && !endpoint.local);
  const base = { name: provider.name, baseUrl: endpoint.baseUrl, configured };
  const unready = (detail: string): ProviderState => ({ ...base, ready: false, detail, models: [] });
  if (!directory.isReady(provider)) {
    const signIn = `run 'oxbow auth set ${provider.name}'`;
    const advice = provider.signIn ? signIn : `${signIn}, or set ${provider.keyName}`;
    return unready(`${directory.keyProblem(provider)}${advice}`);
  }
  const listing = await listOf(parts, provider, provider.local && !moved ? USUAL_PORT_MS : LIST_MS);
  if (!listing.ok) {
    const unreached = listing.failure.reason === "NetworkFailed";
    if (unreached && provider.local)
      return unready(`nothing answers at ${endpoint.baseUrl}${startHint(parts, provider)}`);
    return { ...unready(listing.failure.message), ...(unreached && { unreached }) };
  }
  if (!isItself(parts, provider, listing.models)) {
    const [first] = listing.models;
    return unready(`${first?.owner ?? "another server"} answers at ${endpoint.baseUrl}`);
  }
  const { withDetails } = await import("../model-details.js");
  const kind = provider.wire === "ollama" ? "ollama" : provider.name;
  const models = await withDetails(kind, endpoint, { http, timeoutMs: LIST_MS, models: listing.models });
  const detail =
    provider.description === undefined ? endpoint.baseUrl : `${provider.description} (${endpoint.baseUrl})`;
  return { ...base, ready: true, detail, models: offered(parts, provider, models) };
}

/** A service without a list still has the model that the user named. */
function offered(
  { cache }: ModelParts,
  provider: NamedProvider,
  models: readonly ListedModel[],
): readonly ListedModel[] {
  const usual = models.length > 0 ? undefined : defaultModelOf(provider, cache);
  return usual === undefined ? models : [{ id: usual }];
}

function startHint({ directory }: ModelParts, { name, baseUrlName }: NamedProvider): string {
  const isInstalled = () => findProgram("ollama", directory.variables.PATH, { outside: process.cwd() }) !== undefined;
  const ollama = () => (isInstalled() ? "run 'oxbow ollama start'" : "install it from ollama.com");
  const start = name === "ollama" ? ollama() : "start it";
  return `: ${start}${baseUrlName === undefined ? "" : `, or set ${baseUrlName}`}`;
}
