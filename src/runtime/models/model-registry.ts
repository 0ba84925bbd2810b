/**
 * The available models and the one to use: the user's choice, otherwise the first provider that is ready,
 * otherwise the built-in offline model.
 *
 * 1. Choosing never fails. An unavailable model is a model that answers with the failure, so that a run reports it the
 *    same way as any other failure, in every output format.
 */

import { nearest } from "../../base/nearest.js";
import type { Model } from "../../engine/ports.js";
import type { SessionKey } from "../../protocol/commands.js";
import type { Failure } from "../../protocol/errors.js";
import type { ContainProvider } from "../../providers/executable/containment.js";
import type { LocalOptions } from "../../providers/local/local-ollama.js";
import type { OwnProvider, ProviderState } from "../../providers/selection/describe.js";
import { type ModelParts, OFFLINE, type ProgramTape } from "../../providers/selection/model-parts.js";
import {
  addressAdvice,
  isAddress,
  type ModelSpec,
  ownModel,
  splitSpec,
  unknownPrefix,
} from "../../providers/selection/model-spec.js";
import type { OpenedEmbedder } from "../../providers/selection/open-embedder.js";
import { noModel, openModel, type Resolved, unavailable } from "../../providers/selection/open-model.js";
import { type DirectoryOptions, ProviderDirectory } from "../../providers/selection/provider-directory.js";
import { type Person, providerOf, selectModel } from "../../providers/selection/selection.js";
import { createHttpClient, type HttpClient } from "../../system/http-client.js";
import { nodeClock } from "../../system/node-clock.js";
import { StoredCredentials } from "../credentials/stored-credentials.js";
import { networkOf } from "../network.js";

export type { ProviderState } from "../../providers/selection/describe.js";
export type { Resolved } from "../../providers/selection/open-model.js";

export interface Chosen {
  readonly model: Model;
  /** A message for the user about the choice, if any. */
  readonly note?: string;
  /** The model is unavailable and answers with this failure. */
  readonly failure?: Failure;
}

export interface ModelChoice {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
}

export interface ModelRegistry {
  /** Lets the user choose one of several. */
  choose(choice: ModelChoice, person?: Person): Promise<Chosen>;
  /** `NAME`, `PROVIDER`, or `PROVIDER:NAME`. */
  resolve(spec: string): Promise<Resolved>;
  /** The same model, without switching to it. */
  look(spec: string): Promise<Resolved>;
  /** The embedding model `PROVIDER:NAME`; a name alone is one of Ollama's. */
  embedder(spec: string): Promise<OpenedEmbedder>;
  /** The providers' names, whether they are ready or not. */
  names(): Promise<readonly string[]>;
  /** Only the named provider, if there is a name. */
  providers(only?: string): Promise<readonly ProviderState[]>;
  /** The providers that the user added, with their variables. */
  ownProviders(): Promise<readonly OwnProvider[]>;
  /** The models as a numbered table. */
  menu(): Promise<string>;
  /** The model with this number in the table. */
  numbered(number: number): Promise<Resolved>;
}

export interface ModelRegistryOptions extends Omit<DirectoryOptions, "stored"> {
  /** Keys that a client gave to the credential helper for its session. */
  readonly keys?: readonly SessionKey[];
  /** The settings for models on this machine. */
  readonly local?: LocalOptions;
  /** A cassette instead of the network. */
  readonly http?: HttpClient;
  readonly programs?: ProgramTape;
  /** The sandbox for the providers of a project. */
  readonly contain?: ContainProvider;
  readonly hears?: ModelParts["hears"];
  /** Says whether another provider may answer for one that refuses the sign-in; default: yes. */
  readonly standIns?: boolean;
  /** The time between two lines of the offline model's answers; default: none. */
  readonly offlineLineMs?: number | undefined;
}

/** Services with hundreds of models would fill the screen. */
const MENU_MOST = 20;

export type { OwnProvider };

export function createModelRegistry(options: ModelRegistryOptions): ModelRegistry {
  return new ProviderModels(options);
}

class ProviderModels implements ModelRegistry {
  readonly #options: ModelRegistryOptions;
  readonly #stored: StoredCredentials;
  #opened: Promise<ModelParts> | undefined;
  /** The provider of the model in use: a bare model name means one of its models. */
  #current: string | undefined;
  #menu: readonly string[] = [];

  constructor(options: ModelRegistryOptions) {
    this.#options = options;
    this.#stored = new StoredCredentials(options.variables, options.keys);
  }

  async choose(choice: ModelChoice, person?: Person): Promise<Chosen> {
    const parts = await this.#parts();
    if (choice.provider === undefined && choice.model === undefined) {
      const { provider, model, note } = await selectModel(parts, person);
      return { ...(await this.#standIn({ provider, ...(model !== undefined && { model }) })), ...(note && { note }) };
    }
    const { provider } = choice;
    const spec =
      provider === undefined ? split(parts, choice.model ?? "") : { provider, ...ownModel(provider, choice.model) };
    return this.#standIn(spec);
  }

  async resolve(text: string): Promise<Resolved> {
    const parts = await this.#parts();
    const resolved = await this.#open(split(parts, text));
    if ("model" in resolved) await this.#remember(resolved.model);
    return resolved;
  }

  async look(text: string): Promise<Resolved> {
    const before = this.#current;
    const resolved = await this.#open(split(await this.#parts(), text));
    this.#current = before;
    return resolved;
  }

  async embedder(spec: string): Promise<OpenedEmbedder> {
    const parts = await this.#parts();
    return (await import("../../providers/selection/open-embedder.js")).openEmbedder(parts, spec);
  }

  async names(): Promise<readonly string[]> {
    const { directory } = await this.#parts();
    return [...directory.list().map((entry) => entry.name), OFFLINE];
  }

  async providers(only?: string): Promise<readonly ProviderState[]> {
    const parts = await this.#parts();
    return (await import("../../providers/selection/describe.js")).providerStates(parts, only);
  }

  async ownProviders(): Promise<readonly OwnProvider[]> {
    const parts = await this.#parts();
    return (await import("../../providers/selection/describe.js")).ownProviderList(parts);
  }

  async menu(): Promise<string> {
    const [states, { modelTable }] = await Promise.all([
      this.providers(),
      import("../../providers/selection/model-table.js"),
    ]);
    const { text, specs } = modelTable(states, { numbered: true, most: MENU_MOST });
    this.#menu = specs;
    return text;
  }

  async numbered(number: number): Promise<Resolved> {
    if (this.#menu.length === 0) await this.menu();
    const spec = this.#menu[number - 1];
    if (spec === undefined) return noModel(`there is no model ${number}: the list ends at ${this.#menu.length}.`);
    return this.resolve(spec);
  }

  async #parts(): Promise<ModelParts> {
    const {
      local,
      programs,
      contain,
      offlineLineMs,
      standIns,
      hears,
      http = this.#client(),
      ...options
    } = this.#options;
    const onTape = programs === undefined ? {} : { onTape: [...programs.outputs.keys()] };
    this.#opened ??= ProviderDirectory.open({
      ...options,
      ...onTape,
      stored: this.#stored,
    }).then((directory) => ({
      directory,
      ...{ http, offlineLineMs, standIns, hears },
      state: options.roots?.state,
      cache: options.roots?.cache,
      ...(local && { local }),
      ...(programs && { programs }),
      ...(contain && { contain }),
    }));
    const parts = await this.#opened;
    // The user may have signed in since.
    if (options.roots !== undefined) await this.#stored.load();
    return parts;
  }

  #client(): HttpClient {
    return createHttpClient({ clock: nodeClock, network: networkOf(this.#options.variables) });
  }

  async #standIn(spec: ModelSpec): Promise<Chosen> {
    const resolved = await this.#open(spec);
    if ("model" in resolved) return resolved;
    const { failure } = resolved;
    return { model: unavailable(spec.provider ?? "none", spec.model, failure), failure };
  }

  async #open({ provider, model }: ModelSpec): Promise<Resolved> {
    const parts = await this.#parts();
    let name = provider;
    if (name === undefined && model !== undefined && isAddress(model)) return noModel(addressAdvice(model));
    if (name === undefined && model !== undefined) {
      name = await providerOf(parts, model, this.#current);
      if (name === undefined) {
        return noModel(missing(model, parts));
      }
    }
    const resolved = await openModel(parts, name ?? OFFLINE, model);
    if ("model" in resolved) this.#current = name;
    return resolved;
  }

  /** A local model that the user chose is also the default next time. */
  async #remember({ provider, model }: Model): Promise<void> {
    const { directory, state } = await this.#parts();
    const entry = directory.find(provider);
    if (entry?.kind !== "http" || !entry.provider.local) return;
    (await import("../../providers/selection/last-model.js")).rememberModel(state, `${provider}:${model}`);
  }
}

function missing(model: string, { directory }: ModelParts): string {
  const prefix = unknownPrefix(model);
  if (prefix === undefined) {
    return `no available provider has '${model}'. 'oxbow models' shows what each provider needs.`;
  }
  const near = nearest(prefix, [...directory.list().map(({ name }) => name), OFFLINE]);
  const advice =
    near === undefined ? "'oxbow models' lists both." : `Did you mean ${near}:${model.slice(prefix.length + 1)}?`;
  return `there is no provider '${prefix}', and no server on this machine has '${model}'. ${advice}`;
}

function split({ directory }: ModelParts, text: string): ModelSpec {
  return splitSpec(text, (name) => name === OFFLINE || directory.find(name) !== undefined);
}
