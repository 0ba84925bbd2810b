/** A model by its provider's name and its own, ready to be called (features M1, M3). */
import type { Model } from "../../engine/ports.js";
import { type Failure, failure } from "../../protocol/errors.js";
import { createHttpModel } from "../../providers/http-model.js";
import { loadWire } from "../../providers/named.js";
import { nearest } from "../flags.js";
import { type ModelParts, OFFLINE } from "./model-parts.js";
import { probeModels } from "./probe.js";
import type { ProviderDirectory } from "./provider-directory.js";

export type Resolved = { readonly model: Model } | { readonly failure: Failure };

export async function openModel(parts: ModelParts, name: string, model: string | undefined): Promise<Resolved> {
  if (name === OFFLINE) return { model: (await import("../../providers/offline/model.js")).createOfflineModel() };
  const { directory, http, trace } = parts;
  const provider = directory.find(name);
  if (provider === undefined) return noModel(unknownProvider(name, directory));
  if (!directory.isReady(provider)) {
    return noModel(`${name} needs a key. Set ${provider.keyName}, or choose another provider ('oxbow models').`);
  }
  const endpoint = directory.endpoint(provider);
  const chosen = model ?? provider.defaultModel ?? (await probeModels(parts, provider))[0];
  if (chosen === undefined) {
    return noModel(
      `no Ollama model was found at ${endpoint.baseUrl}. Start 'ollama serve' and pull one, or set OLLAMA_HOST.`,
    );
  }
  const wire = await loadWire(provider.wire);
  return { model: createHttpModel({ wire, endpoint, model: chosen, http, ...(trace && { trace }) }) };
}

/** Stands in for a model that cannot be had: it answers with the failure. */
export function unavailable(provider: string, model: string | undefined, cause: Failure): Model {
  return {
    provider,
    family: provider,
    model: model ?? "(none)",
    async *stream() {
      yield [{ type: "failure", failure: cause }];
    },
  };
}

function unknownProvider(name: string, directory: ProviderDirectory): string {
  const known = [...directory.list().map((candidate) => candidate.name), OFFLINE];
  const near = nearest(name, known);
  return `there is no provider '${name}'. ${near === undefined ? `There are ${known.join(", ")}.` : `Did you mean ${near}?`}`;
}

function noModel(detail: string): { readonly failure: Failure } {
  return { failure: failure("NoModel", { detail }) };
}
