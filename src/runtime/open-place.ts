/**
 * Creates the place that a client asked for.
 *
 * 1. Fields that the request omits come from the current place.
 * 2. The flags of the command line apply in every place.
 * 3. Content of another folder is used only if the user approved it before; opening a place asks no questions.
 * 4. A client that brings its surroundings gets a place of its own: with its environment, its flags and its keys. In a service, what it does not
 *    bring comes from the service.
 */
import { homedir } from "node:os";
import { resolve } from "node:path";
import { UsageError } from "../base/usage-error.js";
import type { PlaceRequest } from "../control/host.js";
import type { Model } from "../engine/ports.js";
import { type ParsedFlags, parseFlags } from "../feature/flags.js";
import type { SessionStart } from "../protocol/commands.js";
import { type Failure, failure } from "../protocol/errors.js";
import { localOptions } from "../providers/settings.js";
import { nodeClock } from "../system/node-clock.js";
import { WorkspaceError } from "../tools/files/workspace-error.js";
import { openRoot } from "../tools/files/workspace-root.js";
import { programFlags } from "./content/content-options.js";
import { enterPlace } from "./content/enter-place.js";
import { createModelRegistry } from "./models/model-registry.js";
import { ModelRoutes } from "./models/model-routes.js";
import { type ModelPlace, modelsOf, settingsChoice } from "./models/place-models.js";
import type { Place, ProcessParts } from "./open-engine.js";
import { isPath, withProfile } from "./settings/choose-profile.js";
import { type LoadedSettings, loadSettings, patient, resolveSettings } from "./settings/settings.js";

export type StoredModel = { readonly provider: string; readonly model: string };

interface WantedPlace extends PlaceRequest {
  readonly earlier?: StoredModel | undefined;
  readonly report?: ((message: string) => void) | undefined;
}

export async function openPlace(
  request: WantedPlace,
  current: Place,
  shared: ProcessParts,
): Promise<Place | { readonly failure: Failure }> {
  try {
    if (request.start !== undefined) return await startPlace(request, request.start, shared);
    const root = request.cwd === undefined ? current.root : await openRoot(resolve(current.root, request.cwd));
    const own = request.profile === undefined ? current.loaded : await otherSettings(request.profile, { root, shared });
    const entered = await enter({ root, loaded: own, current, shared });
    if ("failure" in entered) return entered;
    const { loaded, content } = entered;
    const models = loaded === current.loaded ? current : await openModels(loaded, current, shared);
    const isNamed = shared.isReplay || shared.flags?.has("model") || shared.flags?.has("provider");
    const earlier = isNamed ? undefined : request.earlier;
    const chosen = await chooseModel(request.model, { loaded, current, models, earlier });
    if ("failure" in chosen) return chosen;
    const { registry, routes } = models;
    return { root, loaded, content, registry, routes, model: chosen.model, own: current.own };
  } catch (error) {
    if (!(error instanceof WorkspaceError) && !(error instanceof UsageError)) throw error;
    return { failure: failure("InvalidInput", { detail: error.message }) };
  }
}

/** Secrets of the engine that no client brings: they open the store and the stored keys. */
const ENGINE_SECRETS = ["OXBOW_MACHINE_KEY", "OXBOW_PASSPHRASE"];

async function startPlace(
  { cwd, profile, model, earlier, report = () => {} }: WantedPlace,
  start: SessionStart,
  shared: ProcessParts,
): Promise<Place | { readonly failure: Failure }> {
  const { readFlags } = shared;
  if (readFlags === undefined) throw new UsageError("This engine takes no environment of a client.");
  const { OXBOW_AGENT: _, ...ofService } = shared.variables;
  const secrets = Object.fromEntries(ENGINE_SECRETS.map((name) => [name, shared.variables[name]]));
  const variables = { ...(shared.isDetached ? secrets : ofService), ...start.environment };
  const brought = readFlags(start.flags ?? [], variables);
  const given = shared.isDetached ? brought : over(brought, shared.flags);
  const flags = profile === undefined ? given : withProfile(given, { name: profile, root: cwd ?? homedir() });
  const { umask, keys = [], withheld = [] } = start;
  const own = { variables, flags, notify: report, hint: report, umask, keys, withheld };
  const root = await openRoot(resolve(cwd ?? homedir()));
  const mine = patient(await loadSettings(flags, variables));
  for (const warning of mine.warnings) report(warning);
  const entered = await enterPlace({
    ...{ root, loaded: mine, variables, notify: report, color: false, width: 80, asksLater: true },
    skipUnapproved: flags.has("skip-unapproved"),
    ...programFlags(flags),
  });
  if ("failure" in entered) return entered;
  const { content } = entered;
  const loaded = patient(entered.loaded);
  const about = { loaded, variables, root, notify: report, content };
  const registry = await modelsOf(about, { plugins: shared.plugins, keys: own.keys });
  const routes = new ModelRoutes({ loaded, registry, clock: shared.clock ?? nodeClock });
  const chosen = await startModel(about, { spec: model, earlier, flags, registry, routes });
  if ("failure" in chosen) return chosen;
  return { root, loaded, content, registry, routes, model: chosen.model, own };
}

/** The first flags, and where they are silent the second. */
function over(first: ParsedFlags, second: ParsedFlags | undefined): ParsedFlags {
  const of = (name: string) => (first.has(name) ? first : second);
  return {
    words: first.words,
    has: (name) => of(name)?.has(name) ?? false,
    text: (name) => of(name)?.text(name),
    list: (name) => of(name)?.list(name) ?? [],
  };
}

/** The model that the client names, that of the stored session, or that of the settings. */
async function startModel(
  place: ModelPlace,
  from: Pick<Place, "registry" | "routes"> & {
    readonly spec: string | undefined;
    readonly earlier: StoredModel | undefined;
    readonly flags: ParsedFlags;
  },
): Promise<{ readonly model: Model } | { readonly failure: Failure }> {
  const { spec, earlier, flags, registry, routes } = from;
  if (spec !== undefined) return (await routes.resolve(spec)) ?? registry.resolve(spec);
  const { provider, model } = place.loaded.settings;
  const isNamed = flags.has("model") || flags.has("provider");
  const named = isNamed ? { provider: provider.value, model: model.value } : earlier;
  const choice = named ?? (await settingsChoice(place));
  const chosen = (await routes.choose(choice)) ?? (await registry.choose(choice));
  if (chosen.note !== undefined) place.notify(chosen.note);
  return { model: chosen.model };
}

async function otherSettings(
  profile: string,
  { root, shared }: { readonly root: string; readonly shared: ProcessParts },
): Promise<LoadedSettings> {
  const name = isPath(profile) ? resolve(root, profile.replace(/^~(?=\/)/, homedir())) : profile;
  const flags = withProfile(shared.flags ?? parseFlags([], [], ""), { name, root });
  const loaded = await loadSettings(flags, shared.variables);
  for (const warning of loaded.warnings) shared.notify(warning);
  return loaded;
}

async function enter(place: {
  readonly root: string;
  readonly loaded: LoadedSettings;
  readonly current: Place;
  readonly shared: ProcessParts;
}): Promise<Pick<Place, "loaded" | "content"> | { readonly failure: Failure }> {
  const { root, loaded, current, shared } = place;
  if (root === current.root && loaded === current.loaded) return current;
  const { variables, notify } = shared;
  const unattended = { color: false, width: 80, skipUnapproved: true, allowProjectHooks: false };
  const { layers } = loaded;
  const own = layers.some(({ scope }) => scope === "project")
    ? await resolveSettings({ ...loaded, layers: layers.filter(({ scope }) => scope !== "project") })
    : loaded;
  return enterPlace({ root, loaded: own, variables, notify, ...unattended });
}

/** A replay uses one cassette for all places. */
async function openModels(
  loaded: LoadedSettings,
  current: Place,
  shared: ProcessParts,
): Promise<Pick<Place, "registry" | "routes">> {
  const { settings, roots, profilePath } = loaded;
  const own = shared.isReplay
    ? current.registry
    : createModelRegistry({
        variables: shared.variables,
        roots,
        keys: current.own?.keys ?? [],
        tables: { value: settings.providers.value, file: profilePath },
        local: localOptions(settings),
      });
  const { plugins = [] } = shared;
  const registry =
    plugins.length === 0 || shared.isReplay
      ? own
      : (await import("./plugins/plugin-providers.js")).withPluginProviders(own, plugins);
  return { registry, routes: new ModelRoutes({ loaded, registry, clock: shared.clock ?? nodeClock }) };
}

async function chooseModel(
  spec: string | undefined,
  {
    loaded,
    current,
    models: { registry, routes },
    earlier,
  }: {
    readonly earlier: StoredModel | undefined;
    readonly loaded: LoadedSettings;
    readonly current: Place;
    readonly models: Pick<Place, "registry" | "routes">;
  },
): Promise<{ readonly model: Model } | { readonly failure: Failure }> {
  if (spec !== undefined) return (await routes.resolve(spec)) ?? registry.resolve(spec);
  const isCurrent = earlier === undefined || same(earlier, current.model);
  if (loaded === current.loaded && isCurrent) return { model: current.model };
  const { provider, model } = loaded.settings;
  const ofSettings = { provider: provider.value, model: model.value };
  const choice = loaded === current.loaded && earlier !== undefined ? earlier : ofSettings;
  // An unavailable model answers with its failure, so the session still opens.
  return { model: ((await routes.choose(choice)) ?? (await registry.choose(choice))).model };
}

function same(one: StoredModel, other: StoredModel): boolean {
  return one.provider === other.provider && one.model === other.model;
}
