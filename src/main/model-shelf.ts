/**
 * Which models there are and which one to use (features M5, M6): what was asked for, else the first provider that is ready, else
 * the built-in offline model. The parts are in `models/`, by subject.
 *
 * 1. Choosing never fails. A model that cannot be had is a model that answers with the failure, so that a run tells of it the
 *    same way as of any other failure, in every output format.
 */
import type { Model } from "../engine/ports.js";
import type { Trace } from "../providers/trace.js";
import { createHttpClient } from "../system/http-client.js";
import { nodeClock } from "../system/node-clock.js";
import type { ProviderState } from "./models/describe.js";
import { type ModelParts, OFFLINE } from "./models/model-parts.js";
import { ownModel, splitSpec } from "./models/model-spec.js";
import { openModel, type Resolved, unavailable } from "./models/open-model.js";
import { firstReadyName } from "./models/probe.js";
import { type DirectoryOptions, ProviderDirectory } from "./models/provider-directory.js";

export type { ProviderState } from "./models/describe.js";
export type { Resolved } from "./models/open-model.js";

export interface Chosen {
  readonly model: Model;
  /** What a person should know about the choice, when there is something. */
  readonly note?: string;
}

export interface ModelShelf {
  choose(wish: { readonly provider?: string | undefined; readonly model?: string | undefined }): Promise<Chosen>;
  /** `NAME`, `PROVIDER`, or `PROVIDER:NAME`. */
  resolve(spec: string): Promise<Resolved>;
  providers(): Promise<readonly ProviderState[]>;
  /** The models as a table for people. */
  describe(): Promise<string>;
}

const CONNECT = "set ANTHROPIC_API_KEY or OPENAI_API_KEY, or start Ollama";

export interface ShelfOptions extends DirectoryOptions {
  readonly trace?: Trace;
}

export function createModelShelf({ trace, ...options }: ShelfOptions): ModelShelf {
  const http = createHttpClient({ clock: nodeClock });
  return new Shelf({ directory: new ProviderDirectory(options), http, ...(trace && { trace }) });
}

class Shelf implements ModelShelf {
  readonly #parts: ModelParts;
  /** The provider of the model in use: a bare model name means one of its models. */
  #current: string | undefined;

  constructor(parts: ModelParts) {
    this.#parts = parts;
  }

  async choose({ provider, model }: { provider?: string | undefined; model?: string | undefined }): Promise<Chosen> {
    if (provider === undefined && model === undefined) return this.#firstReady();
    const spec = provider === undefined ? this.#split(model ?? "") : { provider, ...ownModel(provider, model) };
    return this.#standIn(spec.provider ?? (await firstReadyName(this.#parts)), spec.model);
  }

  async resolve(text: string): Promise<Resolved> {
    const spec = this.#split(text);
    return this.#open(spec.provider ?? this.#current ?? (await firstReadyName(this.#parts)), spec.model);
  }

  async providers(): Promise<readonly ProviderState[]> {
    return (await import("./models/describe.js")).providerStates(this.#parts);
  }

  async describe(): Promise<string> {
    const { describeStates, providerStates } = await import("./models/describe.js");
    return describeStates(await providerStates(this.#parts));
  }

  async #firstReady(): Promise<Chosen> {
    const name = await firstReadyName(this.#parts);
    const chosen = await this.#standIn(name, undefined);
    if (name !== OFFLINE) return chosen;
    const note = `no model is connected, so the built-in offline model answers (rules, no language model). To connect one: ${CONNECT}.`;
    return { ...chosen, note };
  }

  async #standIn(name: string, model: string | undefined): Promise<Chosen> {
    const resolved = await this.#open(name, model);
    return "model" in resolved ? resolved : { model: unavailable(name, model, resolved.failure) };
  }

  async #open(name: string, model: string | undefined): Promise<Resolved> {
    const resolved = await openModel(this.#parts, name, model);
    if ("model" in resolved) this.#current = name;
    return resolved;
  }

  #split(text: string) {
    return splitSpec(text, (name) => name === OFFLINE || this.#parts.directory.find(name) !== undefined);
  }
}
