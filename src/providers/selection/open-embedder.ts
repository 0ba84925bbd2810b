/** An embedding model by its provider's name and its own. */
import type { Embedder } from "../../base/embedder.js";
import { type Failure, failure } from "../../protocol/errors.js";
import { nodeClock } from "../../system/node-clock.js";
import { baseUrlProblem } from "../base-url.js";
import { createEmbedder, noEmbeddings } from "../embeddings/embedder.js";
import type { ModelParts } from "./model-parts.js";
import { type ModelSpec, splitSpec } from "./model-spec.js";
import { noModel } from "./open-model.js";

export type OpenedEmbedder = { readonly embedder: Embedder } | { readonly failure: Failure };

/** A name without a provider is a model of Ollama on this machine: nothing goes to a service that the user did not name. */
export function openEmbedder({ directory, http }: ModelParts, spec: string): OpenedEmbedder {
  const { provider: name, model } = split(spec, (known) => directory.find(known) !== undefined);
  const entry = directory.find(name);
  if (entry === undefined) return noModel(`there is no provider '${name}'.`);
  if (entry.kind === "broken") return { failure: failure("ConfigurationInvalid", { detail: entry.problem }) };
  if (entry.kind !== "http") return { failure: noEmbeddings(name) };
  const { provider } = entry;
  if (!directory.isReady(provider)) {
    return noModel(`${name} needs a key: ${directory.keyProblem(provider)}run 'oxbow auth set ${name}'.`);
  }
  const endpoint = directory.endpoint(provider);
  const problem = baseUrlProblem(provider, endpoint.baseUrl, directory.variables);
  if (problem !== undefined) return { failure: failure("ConfigurationInvalid", { detail: problem }) };
  if (model === undefined || model === "") return noModel(`name the embedding model: ${name}:MODEL.`);
  const embedder = createEmbedder({ wire: provider.wire, endpoint, model, http, clock: nodeClock });
  return embedder === undefined ? { failure: noEmbeddings(name) } : { embedder };
}

function split(spec: string, isProvider: (name: string) => boolean): ModelSpec & { readonly provider: string } {
  const found = splitSpec(spec, isProvider);
  return { ...found, provider: found.provider ?? "ollama" };
}
