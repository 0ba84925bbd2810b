/**
 * Another provider with the same models, which answers while the first one refuses the sign-in: OpenRouter for Copilot.
 *
 * 1. It must be set up, too, and have a model of the same name. Otherwise the failure of the first one stays.
 * 2. Only a refused sign-in counts (401). A plan without the model, or a limit, is for the user to see.
 */
import type { Model } from "../../engine/ports.js";
import { nodeClock } from "../../system/node-clock.js";
import { createHttpModel } from "../http-model.js";
import { loadWire, type NamedProvider } from "../named.js";
import { createRoutingModel } from "../routing/routing-model.js";
import { listOf } from "./local-servers.js";
import type { ModelParts } from "./model-parts.js";

const LIST_MS = 10_000;

export function withStandIn(parts: ModelParts, first: Model, provider: NamedProvider): Model {
  const open = async (): Promise<Model | undefined> => {
    const model = await sameModel(parts, provider, first.model);
    if (model === undefined) return undefined;
    const wire = await loadWire(provider.wire);
    const { http, trace, state, directory } = parts;
    return createHttpModel({
      wire,
      endpoint: directory.endpoint(provider),
      model,
      http,
      state,
      ...(trace && { trace }),
    });
  };
  const { stream } = createRoutingModel({
    members: [async () => first, open],
    clock: nodeClock,
    mayFailOver: ({ reason, status = 401 }) => reason === "AuthFailed" && status === 401,
  });
  return { ...first, stream };
}

/** The name of the model at the other provider, whose names begin with a maker: `openai/gpt-5`. */
async function sameModel(parts: ModelParts, provider: NamedProvider, name: string): Promise<string | undefined> {
  const listing = await listOf(parts, provider, LIST_MS);
  if (!listing.ok) return undefined;
  const wanted = name.toLowerCase();
  return listing.models.find(({ id }) => id.toLowerCase().replace(/^[^/]+\//, "") === wanted)?.id;
}
