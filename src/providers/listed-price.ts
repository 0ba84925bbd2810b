/** The price of a model in its provider's own list. */
import type { ModelPrice } from "../engine/ports.js";
import type { HttpModelOptions } from "./http-model.js";
import { keptOrListed } from "./kept-list.js";

type Listed = Pick<HttpModelOptions<never>, "endpoint" | "model" | "http" | "state">;

/** Undefined when the provider does not answer, or lists none. */
export async function listedPrice({ endpoint, model, http, state }: Listed): Promise<ModelPrice | undefined> {
  const listing = await keptOrListed("openai-chat", endpoint, { http: endpoint.http ?? http, state });
  return listing.ok ? listing.models.find(({ id }) => id === model)?.price : undefined;
}
