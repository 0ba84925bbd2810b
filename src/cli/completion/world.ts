/** Describes where completion finds sessions, routes, providers and models of this machine. A missing or slow source gives no candidates. */
import type { Variables } from "../../base/variables.js";
import { CommandRegistry } from "../../commands/registry.js";
import type { CommandSpec, CompletionSource } from "../../feature/command.js";
import { parseFlags } from "../../feature/flags.js";
import { programSummary, SESSION_SPECS } from "../../runtime/commands/catalogue.js";
import { ATTACH, RESUME, RUN } from "../../runtime/commands/program.js";
import { COMMANDS } from "../command-table.js";
import { RUN_FLAGS } from "../commands/run-flags.js";
import { commonFlags } from "../shell-command.js";
import type { Candidate, Candidates, CompletionWorld } from "./candidates.js";

/** Sets how long the user waits after Tab at most. */
const MOST_MS = 1500;
const MOST_SESSIONS = 30;

export function completionWorld(variables: Variables): CompletionWorld {
  return {
    commands: COMMANDS.map((command) => ({ ...command, summary: programSummary(command.name) })),
    specsOf,
    slashNames: async () => {
      const names = new CommandRegistry<(typeof SESSION_SPECS)[number]>().register(...SESSION_SPECS).names();
      return names.map((name) => ({ value: `/${name}` }));
    },
    valuesOf: async (source) => {
      if (source === "file") return ":files";
      if (source === "folder") return ":folders";
      const late = new Promise<Candidates>((resolve) => setTimeout(resolve, MOST_MS, []).unref());
      return Promise.race([valuesOf(source, variables).catch(() => []), late]);
    },
  };
}

async function valuesOf(source: CompletionSource, variables: Variables): Promise<readonly Candidate[]> {
  switch (source) {
    case "command":
      return [...COMMANDS.map(({ name }) => ({ value: name, about: programSummary(name) })), { value: "environment" }];
    case "session":
      return sessions(variables);
    case "route":
      return (await openModels(variables)).routes.list().then(({ routes }) => routes.map(asRoute));
    case "provider":
      return (await (await openModels(variables)).registry.names()).map((value) => ({ value }));
    case "model":
      return models(variables);
    case "profile":
      return profiles(variables);
    default:
      return [];
  }
}

function asRoute({ name, models: to }: { readonly name: string; readonly models: readonly string[] }): Candidate {
  return { value: name, about: to.join(", ") };
}

async function sessions(variables: Variables): Promise<readonly Candidate[]> {
  const { openSessions } = await import("../commands/session/open-sessions.js");
  const { store, close } = await openSessions(parseFlags([], [], ""), variables);
  try {
    const records = await store.list({ limit: MOST_SESSIONS });
    return records.map(({ id, title }) => ({ value: id, about: title ?? "" }));
  } finally {
    await close();
  }
}

async function profiles(variables: Variables): Promise<readonly Candidate[]> {
  const [{ placeSettings }, { listProfiles }] = await Promise.all([
    import("../../runtime/content/place-settings.js"),
    import("../../runtime/settings/profile-list.js"),
  ]);
  const loaded = await placeSettings(parseFlags([], [], ""), variables, { unapproved: "ignore" });
  const listed = await listProfiles({ loaded, variables, root: process.cwd() });
  return listed
    .filter(({ name }) => name !== "config.toml")
    .map(({ name, description }) => ({ value: name, about: description ?? "" }));
}

async function models(variables: Variables): Promise<readonly Candidate[]> {
  const { registry, routes } = await openModels(variables);
  const [listed, named] = await Promise.all([registry.providers(), routes.list()]);
  const ready = listed.filter((provider) => provider.ready);
  return [
    ...named.routes.map((route) => ({ ...asRoute(route), value: `@${route.name}` })),
    ...ready.flatMap(({ name, models: own }) =>
      own.map(({ id, label }) => ({ value: `${name}:${id}`, about: label ?? "" })),
    ),
  ];
}

async function openModels(variables: Variables) {
  const [{ loadSettings }, { createModelRegistry }, { ModelRoutes }, { nodeClock }] = await Promise.all([
    import("../../runtime/settings/settings.js"),
    import("../../runtime/models/model-registry.js"),
    import("../../runtime/models/model-routes.js"),
    import("../../system/node-clock.js"),
  ]);
  const loaded = await loadSettings(parseFlags([], [], ""), variables);
  const tables = { value: loaded.settings.providers.value, file: loaded.profilePath };
  const registry = createModelRegistry({ variables, roots: loaded.roots, tables });
  return { registry, routes: new ModelRoutes({ loaded, registry, clock: nodeClock }) };
}

/** The user waits for the completion, so it does not load the large modules of these commands. */
const STARTING_A_RUN = [RUN, RESUME, ATTACH].map((spec) => ({ ...spec, shellFlags: RUN_FLAGS }));

/** The commands that a first word stands for. A word that names none begins a prompt with its flags. */
export async function specsOf(first: string): Promise<readonly CommandSpec[]> {
  const known = COMMANDS.find(({ name, aliases }) => name === first || aliases?.includes(first));
  const starting = STARTING_A_RUN.filter(({ name }) => name === (known?.name ?? RUN.name));
  if (known === undefined || starting.length > 0) return starting;
  const { shell } = await known.load();
  if (shell === undefined) throw new Error(`oxbow ${known.name} has no description`);
  return shell.specs
    .filter(({ places }) => places.includes("without a session"))
    .map((each) => ({ ...each, shellFlags: [...(each.shellFlags ?? []), ...commonFlags(shell)] }));
}
