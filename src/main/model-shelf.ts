/**
 * Which models there are and which one to use (features M5, M6): what was asked for, else the first provider that is ready, else
 * the built-in offline model.
 *
 * 1. Choosing never fails. A model that cannot be had is a model that answers with the failure, so that a run tells of it the
 *    same way as of any other failure, in every output format.
 */
import type { Model } from "../engine/ports.js";
import { type Failure, failure } from "../protocol/errors.js";
import { createHttpModel } from "../providers/http-model.js";
import type { ModelListing } from "../providers/model-list.js";
import {
  endpointOf,
  findProvider,
  isReady,
  loadWire,
  NAMED_PROVIDERS,
  type NamedProvider,
} from "../providers/named.js";
import type { Trace } from "../providers/trace.js";
import { createHttpClient } from "../system/http-client.js";
import { nodeClock } from "../system/node-clock.js";
import type { Variables } from "./env.js";
import { nearest } from "./flags.js";

/** A server on this machine answers at once or not at all. */
const PROBE_MS = 500;
const LIST_MS = 5000;

export interface Chosen {
  readonly model: Model;
  /** What a person should know about the choice, when there is something. */
  readonly note?: string;
}

export type Resolved = { readonly model: Model } | { readonly failure: Failure };

export interface ProviderState {
  readonly name: string;
  readonly baseUrl: string;
  readonly ready: boolean;
  /** Why not, and what to do; or how it is reached. */
  readonly detail: string;
  readonly models: readonly string[];
}

export interface ModelShelf {
  choose(wish: { readonly provider?: string | undefined; readonly model?: string | undefined }): Promise<Chosen>;
  /** `NAME`, `PROVIDER`, or `PROVIDER:NAME`. */
  resolve(spec: string): Promise<Resolved>;
  providers(): Promise<readonly ProviderState[]>;
  /** The models as a table for people. */
  describe(): Promise<string>;
}

const OFFLINE = "offline";
const CONNECT = "set ANTHROPIC_API_KEY or OPENAI_API_KEY, or start Ollama";

export function createModelShelf(options: { readonly variables: Variables; readonly trace?: Trace }): ModelShelf {
  return new Shelf(options.variables, options.trace);
}

class Shelf implements ModelShelf {
  readonly #variables: Variables;
  readonly #trace: Trace | undefined;
  readonly #http = createHttpClient({ clock: nodeClock });
  /** The provider of the model in use: a bare model name means one of its models. */
  #current: string | undefined;

  constructor(variables: Variables, trace: Trace | undefined) {
    this.#variables = variables;
    this.#trace = trace;
  }

  async choose({ provider, model }: { provider?: string | undefined; model?: string | undefined }): Promise<Chosen> {
    if (provider === undefined && model === undefined) return this.#firstReady();
    const spec = provider === undefined ? splitSpec(model ?? "") : { provider, ...ownModel(provider, model) };
    const named = spec.provider ?? (await this.#firstReadyName());
    const resolved = await this.#open(named, spec.model);
    return "model" in resolved ? resolved : { model: unavailable(named, spec.model, resolved.failure) };
  }

  async resolve(text: string): Promise<Resolved> {
    const spec = splitSpec(text);
    return this.#open(spec.provider ?? this.#current ?? (await this.#firstReadyName()), spec.model);
  }

  async providers(): Promise<readonly ProviderState[]> {
    const named = await Promise.all(NAMED_PROVIDERS.map((provider) => this.#state(provider)));
    const offline = {
      name: OFFLINE,
      baseUrl: "",
      ready: true,
      detail: "built in: rules, no language model",
      models: [OFFLINE],
    };
    return [...named, offline];
  }

  async describe(): Promise<string> {
    const lines = (await this.providers()).flatMap((state) => {
      if (!state.ready) return [`${state.name}: not ready: ${state.detail}`];
      const shown = state.models.map((model) => `  ${state.name}:${model}`);
      return [`${state.name}: ${state.detail}`, ...(shown.length > 0 ? shown : ["  (no models found)"])];
    });
    return lines.join("\n");
  }

  async #firstReady(): Promise<Chosen> {
    const name = await this.#firstReadyName();
    if (name === OFFLINE) {
      const { createOfflineModel } = await import("../providers/offline/model.js");
      this.#current = OFFLINE;
      return {
        model: createOfflineModel(),
        note: `no model is connected, so the built-in offline model answers (rules, no language model). To connect one: ${CONNECT}.`,
      };
    }
    const resolved = await this.#open(name, undefined);
    return "model" in resolved ? resolved : { model: unavailable(name, undefined, resolved.failure) };
  }

  /** Keys first, because that costs nothing to find out; then a server on this machine. */
  async #firstReadyName(): Promise<string> {
    const withKey = NAMED_PROVIDERS.find(
      (provider) => provider.keyName !== undefined && isReady(provider, endpointOf(provider, this.#variables)),
    );
    if (withKey !== undefined) return withKey.name;
    const models = await this.#ollamaModels();
    return models.length > 0 ? "ollama" : OFFLINE;
  }

  async #open(name: string, model: string | undefined): Promise<Resolved> {
    if (name === OFFLINE) {
      const { createOfflineModel } = await import("../providers/offline/model.js");
      this.#current = OFFLINE;
      return { model: createOfflineModel() };
    }
    const provider = findProvider(name);
    if (provider === undefined) {
      const known = [...NAMED_PROVIDERS.map((candidate) => candidate.name), OFFLINE];
      const near = nearest(name, known);
      const advice = near === undefined ? `There are ${known.join(", ")}.` : `Did you mean ${near}?`;
      return noModel(`there is no provider '${name}'. ${advice}`);
    }
    const endpoint = endpointOf(provider, this.#variables);
    if (!isReady(provider, endpoint)) {
      return noModel(`${name} needs a key. Set ${provider.keyName}, or choose another provider ('oxbow models').`);
    }
    const chosen = model ?? provider.defaultModel ?? (await this.#ollamaModels())[0];
    if (chosen === undefined) {
      return noModel(
        `no Ollama model was found at ${endpoint.baseUrl}. Start 'ollama serve' and pull one, or set OLLAMA_HOST.`,
      );
    }
    const wire = await loadWire(provider.wire);
    this.#current = name;
    const trace = this.#trace === undefined ? {} : { trace: this.#trace };
    return { model: createHttpModel({ wire, endpoint, model: chosen, http: this.#http, ...trace }) };
  }

  /** Empty when there is no server. */
  async #ollamaModels(): Promise<readonly string[]> {
    const provider = findProvider("ollama");
    if (provider === undefined) return [];
    const listing = await this.#list(provider, PROBE_MS);
    return listing.ok ? listing.models.map((model) => model.id) : [];
  }

  async #list(provider: NamedProvider, timeoutMs: number): Promise<ModelListing> {
    const { listModels } = await import("../providers/model-list.js");
    return listModels(provider.wire, endpointOf(provider, this.#variables), { http: this.#http, timeoutMs });
  }

  async #state(provider: NamedProvider): Promise<ProviderState> {
    const endpoint = endpointOf(provider, this.#variables);
    const base = { name: provider.name, baseUrl: endpoint.baseUrl };
    if (!isReady(provider, endpoint)) return { ...base, ready: false, detail: `set ${provider.keyName}`, models: [] };
    const listing = await this.#list(provider, LIST_MS);
    if (!listing.ok) return { ...base, ready: false, detail: listing.failure.message, models: [] };
    return { ...base, ready: true, detail: endpoint.baseUrl, models: listing.models.map((model) => model.id) };
  }
}

/** A prefix is a provider only when there is one of that name: Ollama's own names have colons too. */
function splitSpec(spec: string): { readonly provider?: string; readonly model?: string } {
  if (spec === OFFLINE || findProvider(spec) !== undefined) return { provider: spec };
  const colon = spec.indexOf(":");
  const prefix = spec.slice(0, Math.max(0, colon));
  if (prefix === OFFLINE || findProvider(prefix) !== undefined)
    return { provider: prefix, model: spec.slice(colon + 1) };
  return { model: spec };
}

/** `--provider openai --model openai:gpt` means the same as `--model gpt` there. */
function ownModel(provider: string, model: string | undefined): { readonly model?: string } {
  if (model === undefined) return {};
  return { model: model.startsWith(`${provider}:`) ? model.slice(provider.length + 1) : model };
}

function noModel(detail: string): { readonly failure: Failure } {
  return { failure: failure("NoModel", { detail }) };
}

function unavailable(provider: string, model: string | undefined, cause: Failure): Model {
  return {
    provider,
    family: provider,
    model: model ?? "(none)",
    async *stream() {
      yield [{ type: "failure", failure: cause }];
    },
  };
}
