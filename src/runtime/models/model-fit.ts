/** Describes how the measured abilities of a model affect a run. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Variables } from "../../base/variables.js";
import type { ModelFit } from "../../chain/services.js";
import type { Model } from "../../engine/ports.js";
import { endpointOf, findProvider } from "../../providers/named.js";
import type { HttpClient } from "../../system/http-client.js";
import type { Roots } from "../../system/xdg-paths.js";
import { networkOf } from "../network.js";

export interface FitPlace {
  readonly variables: Variables;
  readonly roots: Roots;
  /** A message that the user should see once. */
  readonly hint: (message: string) => void;
}

export function abilitiesPath(roots: Roots): string {
  return join(roots.state, "models", "abilities.json");
}

/** Looked up once per model. Without any measurement, nothing is loaded. */
export function modelFits(place: FitPlace): (model: Model) => Promise<ModelFit | undefined> {
  const known = new Map<string, Promise<ModelFit | undefined>>();
  return (model) => {
    const name = `${model.provider}:${model.model}`;
    const fit = known.get(name) ?? lookUp(model, place);
    known.set(name, fit);
    return fit;
  };
}

async function lookUp({ provider, model }: Model, place: FitPlace): Promise<ModelFit | undefined> {
  const path = abilitiesPath(place.roots);
  if (!existsSync(path)) return undefined;
  const [{ AbilityStore }, { fitOf }] = await Promise.all([
    import("../../providers/abilities/ability-store.js"),
    import("../../providers/abilities/report.js"),
  ]);
  const report = new AbilityStore(path).find({ provider, model });
  if (report === undefined) return undefined;
  const digest = report.digest === undefined ? undefined : await digestOf({ provider, model }, place.variables);
  if (report.digest !== digest) return undefined;
  const { expendableTools } = await import("../parts/own-tools.js");
  const fit = fitOf(report, expendableTools());
  if (fit.prompt === "small") {
    const name = `${provider}:${model}`;
    place.hint(`${name} is weak, so it gets a smaller prompt and fewer tools: 'oxbow models test ${name} --show'.`);
  }
  return fit;
}

type Named = Pick<Model, "provider" | "model">;

/** The digest of the model's file; only Ollama reports it. */
export function digestOf({ provider, model }: Named, variables: Variables): Promise<string | undefined> {
  return askOllama(provider, variables, async ({ installedModels, isSameModel }, { baseUrl, http }) => {
    const installed = await installedModels(baseUrl, { http });
    return installed.ok ? installed.models.find((candidate) => isSameModel(candidate.name, model))?.digest : undefined;
  });
}

/** The abilities that the server reports; only Ollama does. */
export function capabilitiesOf({ provider, model }: Named, variables: Variables) {
  return askOllama(provider, variables, async ({ showOllamaModel }, { baseUrl, http }) => {
    const shown = await showOllamaModel(baseUrl, model, { http });
    return shown.ok && shown.details.capabilities.length > 0 ? shown.details.capabilities : undefined;
  });
}

async function askOllama<T>(
  name: string,
  variables: Variables,
  action: (api: OllamaApi, place: { readonly baseUrl: string; readonly http: HttpClient }) => Promise<T | undefined>,
): Promise<T | undefined> {
  const provider = findProvider(name);
  if (provider?.wire !== "ollama") return undefined;
  const [api, { createHttpClient }] = await Promise.all([
    import("../../providers/ollama/api.js"),
    import("../../system/http-client.js"),
  ]);
  const http = createHttpClient({ network: networkOf(variables) });
  try {
    return await action(api, { baseUrl: endpointOf(provider, variables).baseUrl, http });
  } finally {
    http.close();
  }
}

type OllamaApi = typeof import("../../providers/ollama/api.js");
