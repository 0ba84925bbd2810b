/**
 * The model of a subagent.
 *
 * 1. Without a name it is the model of the turn that starts it.
 * 2. `@NAME` and `route:NAME` are routes, `PROVIDER:MODEL` and a bare name are models of this place.
 * 3. `haiku`, `sonnet` and `opus` are the newest such model of the provider in use, if it has Claude models. Otherwise, and for a Claude
 *    model that the place does not have, the subagent uses the model of the turn and the report says so.
 */
import type { Model } from "../../engine/ports.js";
import { isClaudeAlias, isForeignName, newestOf } from "../../extensions/subagents/model-choice.js";
import type { SessionParts } from "../open-engine.js";

export type ChosenModel =
  | { readonly model: Model; readonly note?: string }
  /** Why there is none. */
  | { readonly problem: string };

type Place = Pick<SessionParts, "routes" | "registry" | "loaded">;

export async function modelOfType(name: string | undefined, current: Model, place: Place): Promise<ChosenModel> {
  if (name === undefined || name === "inherit") return { model: current };
  const note = `It used ${current.provider}:${current.model}, because this place has no model "${name}".`;
  const route = await place.routes.resolve(name);
  if (route !== undefined) return "model" in route ? route : { problem: route.failure.message };
  const own = isClaudeAlias(name) ? await place.routes.open(name) : undefined;
  if (own !== undefined && "model" in own) return own;
  if (isForeignName(name) && !/claude/i.test(current.model)) return { model: current, note };
  const spec = isClaudeAlias(name) ? await claudeModel(name, current, place) : name;
  if (spec === undefined) return { model: current, note };
  const found = await place.registry.look(spec);
  if ("model" in found) return found;
  return isForeignName(name) ? { model: current, note } : { problem: found.failure.message };
}

/** The setting `delegate_model`, else the route `delegate` or `summary`, else the smallest Claude model, else the model of the turn. */
export async function modelOfDelegate(current: Model, place: Place): Promise<ChosenModel> {
  const setting = place.loaded.settings.delegate_model.value;
  if (setting !== undefined) return modelOfType(setting, current, place);
  for (const name of ["delegate", "summary"]) {
    const route = await place.routes.open(name);
    if ("model" in route) return route;
  }
  const spec = await claudeModel("haiku", current, place);
  const found = spec === undefined ? undefined : await place.registry.look(spec);
  return found !== undefined && "model" in found ? found : { model: current };
}

async function claudeModel(
  alias: "haiku" | "sonnet" | "opus",
  { provider, model }: Model,
  { loaded }: Place,
): Promise<string | undefined> {
  if (!/claude/i.test(model)) return undefined;
  const { openCatalogue } = await import("../models/open-catalogue.js");
  const id = newestOf(alias, await openCatalogue(loaded).ids(provider));
  return id === undefined ? undefined : `${provider}:${id}`;
}
