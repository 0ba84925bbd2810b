/**
 * The model of a subagent.
 *
 * 1. Without a name it is the model of the turn that starts it.
 * 2. `@NAME` and `route:NAME` are routes, `PROVIDER:MODEL` and a bare name are models of this place.
 * 3. `haiku`, `sonnet` and `opus` are the newest such model of the provider in use, if it has Claude models. Otherwise, and for a Claude
 *    model that the place does not have, the subagent uses the model of the turn and the report says so.
 */
import type { Model } from "../../engine/ports.js";
import type { AgentModels } from "./context.js";
import type { AgentSettings } from "./settings.js";

export type ChosenModel =
  | { readonly model: Model; readonly note?: string }
  /** The reason why there is none. */
  | { readonly problem: string };

export async function modelOfType(name: string | undefined, current: Model, models: AgentModels): Promise<ChosenModel> {
  if (name === undefined || name === "inherit") return { model: current };
  const note = `It used ${current.provider}:${current.model}, because this place has no model "${name}".`;
  const route = await models.routes.resolve(name);
  if (route !== undefined) return "model" in route ? route : { problem: route.failure.message };
  const own = isClaudeAlias(name) ? await models.routes.open(name) : undefined;
  if (own !== undefined && "model" in own) return own;
  if (isForeignName(name) && !/claude/i.test(current.model)) return { model: current, note };
  const spec = isClaudeAlias(name) ? await claudeModel(name, current, models) : name;
  if (spec === undefined) return { model: current, note };
  const found = await models.look(spec);
  if ("model" in found) return found;
  return isForeignName(name) ? { model: current, note } : { problem: found.failure.message };
}

/** Opens the setting `delegate_model`, else the route `delegate` or `summary`, else the smallest Claude model, else the model of the turn. */
export async function modelOfDelegate(
  current: Model,
  { models, settings }: { readonly models: AgentModels; readonly settings: Pick<AgentSettings, "delegate_model"> },
): Promise<ChosenModel> {
  const setting = settings.delegate_model.value;
  if (setting !== undefined) return modelOfType(setting, current, models);
  for (const name of ["delegate", "summary"]) {
    const route = await models.routes.open(name);
    if ("model" in route) return route;
  }
  const spec = await claudeModel("haiku", current, models);
  const found = spec === undefined ? undefined : await models.look(spec);
  return found !== undefined && "model" in found ? found : { model: current };
}

async function claudeModel(
  alias: ClaudeAlias,
  { provider, model }: Model,
  models: AgentModels,
): Promise<string | undefined> {
  if (!/claude/i.test(model)) return undefined;
  const id = newestOf(alias, await models.ids(provider));
  return id === undefined ? undefined : `${provider}:${id}`;
}

type ClaudeAlias = "haiku" | "sonnet" | "opus";

const ALIASES: readonly string[] = ["haiku", "sonnet", "opus"];

function isClaudeAlias(name: string): name is ClaudeAlias {
  return ALIASES.includes(name);
}

/** Finds the newest model of a list that matches an alias; an undated name before a dated one. */
export function newestOf(alias: ClaudeAlias, ids: readonly string[]): string | undefined {
  const meant = ids.filter(
    (id) =>
      /claude/i.test(id) &&
      id
        .toLowerCase()
        .split(/[^a-z]+/)
        .includes(alias),
  );
  return meant.sort((a, b) => compareVersions(b, a) || a.length - b.length)[0];
}

/** A file of another harness may name one of its own models, which this provider may not have. */
export function isForeignName(model: string): boolean {
  return isClaudeAlias(model) || (/^claude-/.test(model) && !model.includes(":"));
}

function compareVersions(a: string, b: string): number {
  const [left, right] = [versionOf(a), versionOf(b)];
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** `claude-3-5-haiku-20241022` is version 3.5; a date is not part of it. */
function versionOf(id: string): readonly number[] {
  return [...id.matchAll(/\d+/g)].map(([digits]) => Number(digits)).filter((number) => number < 100);
}
