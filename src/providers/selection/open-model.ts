/** Opens a model by the names of its provider and itself. */

import { nearest } from "../../base/nearest.js";
import type { Model } from "../../engine/ports.js";
import { type Failure, failure } from "../../protocol/errors.js";
import { nodeClock } from "../../system/node-clock.js";
import { baseUrlProblem } from "../base-url.js";
import { createHttpModel, type Endpoint, usualTimeouts } from "../http-model.js";
import { loadWire, type NamedProvider } from "../named.js";
import { lateLocalModel } from "./late-local-model.js";
import { type ModelParts, OFFLINE } from "./model-parts.js";
import type { ProviderDirectory } from "./provider-directory.js";

export type Resolved = { readonly model: Model } | { readonly failure: Failure };

export async function openModel(parts: ModelParts, name: string, model: string | undefined): Promise<Resolved> {
  if (name === OFFLINE) {
    const { createOfflineModel } = await import("../offline/model.js");
    return { model: createOfflineModel({ lineMs: parts.offlineLineMs }) };
  }
  const { directory } = parts;
  const entry = directory.find(name);
  if (entry === undefined) return noModel(unknownProvider(name, directory));
  if (entry.kind === "broken") return { failure: failure("ConfigurationInvalid", { detail: entry.problem }) };
  if (entry.kind === "http") {
    const opened = await openByHttp(parts, entry.provider, model);
    return limited(parts, await backed(parts, opened, entry.provider), entry.provider);
  }
  const { openProgram } = await import("./provider-programs.js");
  const opened = await openProgram(parts, { ...entry, model });
  return "problem" in opened ? noModel(opened.problem) : { model: opened };
}

/** With another provider's model behind it, if that provider is set up. */
async function backed(parts: ModelParts, opened: Resolved, { standIn }: NamedProvider): Promise<Resolved> {
  if (standIn === undefined || parts.standIns === false || !("model" in opened)) return opened;
  const entry = parts.directory.find(standIn);
  if (entry?.kind !== "http" || !parts.directory.isReady(entry.provider)) return opened;
  const { withStandIn } = await import("./stand-in.js");
  return { model: withStandIn(parts, opened.model, entry.provider) };
}

/** An answer of a model on this machine has no time limit by default. */
async function limited(parts: ModelParts, opened: Resolved, provider: NamedProvider): Promise<Resolved> {
  const ms = parts.local?.answerMs;
  if (ms === undefined || !("model" in opened) || !parts.directory.endpoint(provider).local) return opened;
  const { withTimeLimit } = await import("../local/time-limit.js");
  return { model: withTimeLimit(opened.model, { ms, clock: nodeClock }) };
}

async function openByHttp(parts: ModelParts, provider: NamedProvider, model: string | undefined): Promise<Resolved> {
  const { directory, http, trace, state } = parts;
  const { name, maxContextTokens } = provider;
  if (!directory.isReady(provider)) {
    const wants = provider.signIn ? "a sign-in" : "a key";
    const byVariable = provider.keyName === undefined ? "" : `, or set ${provider.keyName}`;
    const advice = `${directory.keyProblem(provider)}run 'oxbow auth set ${name}'${byVariable}`;
    return noModel(`${name} needs ${wants}: ${advice}, or choose another provider ('oxbow models').`);
  }
  const endpoint = withPatience(directory.endpoint(provider), parts.local?.idleMs);
  const problem = baseUrlProblem(provider, endpoint.baseUrl, directory.variables);
  if (problem !== undefined) return { failure: failure("ConfigurationInvalid", { detail: problem }) };
  const named =
    model === undefined ? await defaultOf(provider, parts.cache) : await byFamily(provider, model, parts.cache);
  const chosen = named ?? (await firstOf(parts, provider));
  if (typeof chosen !== "string") return chosen;
  const wire = await loadWire(provider.wire);
  const { family } = endpoint;
  const hears = async () => parts.hears?.({ provider: name, model: chosen, family });
  const known = { hears, ...(maxContextTokens !== undefined && { maxContextTokens }), ...(trace && { trace }) };
  const given = { wire, endpoint, model: chosen, http, state, ...known };
  // The wires of local servers; any other wire belongs to a hosted service or a mock.
  if (provider.wire === "ollama") {
    const [{ createLocalOllama }, { memoryFor }] = await Promise.all([
      import("../local/local-ollama.js"),
      import("./local-memory.js"),
    ]);
    const local = { clock: nodeClock, ...parts.local, ...memoryFor(endpoint.baseUrl) };
    return { model: createLocalOllama({ ...given, ...local }) };
  }
  const direct = createHttpModel(given);
  if (!endpoint.local || provider.wire !== "openai-chat") return { model: direct };
  const load = async () => (await import("../local/local-chat.js")).withLocalCare;
  return { model: lateLocalModel(direct, { load, clock: nodeClock }) };
}

async function defaultOf(provider: NamedProvider, cache: string | undefined): Promise<string | undefined> {
  if (!provider.defaultModel?.includes("*")) return provider.defaultModel;
  return (await import("../catalogue/newest.js")).defaultModelOf(provider, cache);
}

/** `haiku` is the newest Claude of this family, as in other programs. */
async function byFamily(provider: NamedProvider, model: string, cache: string | undefined): Promise<string> {
  const usual = provider.defaultModel;
  if (!usual?.endsWith("claude-sonnet-*") || !/^[a-z]{1,40}$/.test(model)) return model;
  const defaultModel = usual.replace("sonnet", model);
  return (await import("../catalogue/newest.js")).defaultModelOf({ ...provider, defaultModel }, cache) ?? model;
}

/** A model on this machine may be silent without a limit by default. */
function withPatience(endpoint: Endpoint, idleMs: number | undefined): Endpoint {
  if (!endpoint.local || idleMs === undefined) return endpoint;
  return { ...endpoint, timeouts: { ...usualTimeouts(endpoint), idleMs } };
}

/** The first model of a server, if the user named only the server. */
async function firstOf(parts: ModelParts, provider: NamedProvider): Promise<string | { readonly failure: Failure }> {
  const { listOf } = await import("./local-servers.js");
  const endpoint = parts.directory.endpoint(provider);
  const listing = await listOf(parts, provider, endpoint.local ? 1000 : 10_000);
  if (!listing.ok) return listing;
  const first = listing.models.find(({ id }) => !/embed/i.test(id)) ?? listing.models[0];
  if (first !== undefined) return first.id;
  const get = provider.wire === "ollama" ? "'oxbow ollama pull qwen3' gets one" : "load one there";
  return noModel(`${provider.name} at ${endpoint.baseUrl} has no model yet: ${get}.`);
}

/** Replaces an unavailable model: it always answers with the failure. */
export function unavailable(provider: string, model: string | undefined, cause: Failure): Model {
  const { retryable: _retryable, ...lasting } = cause;
  return {
    provider,
    family: provider,
    model: model ?? "(none)",
    async *stream() {
      yield [{ type: "failure", failure: lasting }];
    },
  };
}

export function noModel(detail: string): { readonly failure: Failure } {
  return { failure: failure("NoModel", { detail }) };
}

function unknownProvider(name: string, directory: ProviderDirectory): string {
  const known = [...directory.list().map((candidate) => candidate.name), OFFLINE];
  const near = nearest(name, known);
  return `there is no provider '${name}'. ${near === undefined ? `There are ${known.join(", ")}.` : `Did you mean ${near}?`}`;
}
