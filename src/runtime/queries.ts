/** Queries of clients beyond a run: sessions, models, commands and permissions, in the form of the protocol. */
import { processCaches } from "../base/cache-budget.js";
import type { Clock } from "../base/clock.js";
import { VERSION } from "../base/version.js";
import type { CommandRegistry } from "../commands/registry.js";
import type { QueryPorts } from "../control/answers.js";
import type { Run } from "../control/run.js";
import type { Envelope } from "../protocol/envelope.js";
import { PROTOCOL_VERSION } from "../protocol/handshake.js";
import type { SessionId } from "../protocol/ids.js";
import type {
  CommandInfo,
  HealthInfo,
  ModelInfo,
  PermissionInfo,
  ProviderInfo,
  Queries,
  SessionInfo,
} from "../protocol/queries.js";
import type { ListedModel } from "../providers/model-list.js";
import type { SessionRecord } from "../sessions/store.js";
import type { WorkspaceFiles } from "../tools/search/file-index.js";
import type { HostedRuns } from "./hosted-runs.js";
import type { ModelRegistry } from "./models/model-registry.js";
import type { ModelRoutes } from "./models/model-routes.js";
import type { EngineOptions, PartState } from "./open-engine.js";
import type { RunPermissions } from "./parts/permissions.js";
import type { SessionStores } from "./sessions/session-stores.js";
import type { LoadedSettings } from "./settings/settings.js";

/** The sources of the models of a profile. */
interface ModelSources {
  readonly registry: Pick<ModelRegistry, "providers">;
  readonly routes: Pick<ModelRoutes, "list">;
  readonly loaded: Pick<LoadedSettings, "settings" | "roots">;
}

export interface QuerySources {
  readonly sessions: Pick<SessionStores, "open" | "undoJournal">;
  /** The place of the session; without a session, the first place. */
  readonly placeOf: (run: Run | undefined) => ModelSources;
  /** Every command of a session; without one, the built-in ones. */
  readonly commands: (run: Run | undefined) => Promise<readonly CommandInfo[]>;
  readonly place: QueryPorts["place"];
  readonly files: QueryPorts["files"];
  readonly waiting: QueryPorts["waiting"];
  readonly extensions: QueryPorts["extensions"];
  readonly settings?: QueryPorts["settings"];
  readonly mcpServers: QueryPorts["mcpServers"];
  readonly mcpTraffic: QueryPorts["mcpTraffic"];
  readonly profiles: QueryPorts["profiles"];
  readonly skills: QueryPorts["skills"];
  readonly skill: QueryPorts["skill"];
  readonly cwd: (run: Run | undefined) => string;
  readonly startedAt: string;
  /** The state of each part of the engine. */
  readonly parts?: () => Promise<NonNullable<HealthInfo["parts"]>>;
  readonly permissionsOf: (run: Run) => Pick<RunPermissions, "mode" | "parts"> | undefined;
}

function queryPorts(sources: QuerySources): QueryPorts {
  const { sessions, commands, place, files, waiting, extensions, profiles, skills, skill, placeOf, permissionsOf } =
    sources;
  return {
    sessions: async ({ id, ...filter }) => {
      const store = await sessions.open();
      const one = id === undefined ? undefined : await store?.get(id);
      const found = id === undefined ? await store?.list({ parent: "none", ...filter }) : one && [one];
      if (store === undefined || found === undefined) return [];
      const { lastEnd } = await import("./sessions/session-end.js");
      return Promise.all(
        found.map(async (record, index) => {
          const end = index < MOST_ENDS ? await lastEnd(record, store) : {};
          return sessionInfo({ ...record, ...end });
        }),
      );
    },
    events: (session, after) => storedEvents(sessions, session, after),
    turns: async (session) => {
      const store = await sessions.open();
      if (store === undefined || (await store.get(session)) === undefined) return [];
      return (await (await lookingBack()).turnsOf(store, session)).map(({ info }) => info);
    },
    changes: async (session, range) => (await lookingBack()).changesOf(sessions, session, range),
    compare: async (all) => (await lookingBack()).compareSessions(sessions, all),
    costs: async (request, sees) => (await lookingBack()).costsOf(sessions, request, sees),
    models: (run) => listModels(placeOf(run)),
    providers: (run) => listProviders(placeOf(run)),
    cwd: sources.cwd,
    health: async () => ({
      version: VERSION,
      protocol_version: PROTOCOL_VERSION,
      pid: process.pid,
      started_at: sources.startedAt,
      caches: {
        limit_bytes: processCaches.limitBytes,
        bytes: processCaches.bytes,
        each: processCaches.figures,
      },
      ...(sources.parts && { parts: await sources.parts() }),
    }),
    ...(profiles && { profiles }),
    ...(skills && { skills }),
    ...(skill && { skill }),
    commands,
    builtInTools: async () => Object.values((await import("../tools/catalog.js")).CATALOG),
    ...(place && { place }),
    ...(files && { files }),
    ...(waiting && { waiting }),
    ...(extensions && { extensions }),
    ...(sources.settings && { settings: sources.settings }),
    ...(sources.mcpServers && { mcpServers: sources.mcpServers }),
    ...(sources.mcpTraffic && { mcpTraffic: sources.mcpTraffic }),
    permissions: async (run) => {
      const permissions = permissionsOf(run);
      return permissions && (await permissionInfo(permissions));
    },
  };
}

/** Reading the ends of more logs would delay a list; older sessions are rarely resumed. */
const MOST_ENDS = 100;

/** Stored events; none if sessions are not stored. */
export async function* storedEvents(sessions: Pick<SessionStores, "open">, session: SessionId, after: number) {
  const store = await sessions.open();
  if (store === undefined || (await store.get(session)) === undefined) return;
  yield* store.events(session, { after }) as AsyncIterable<Envelope>;
}

/** The last event whose content has expired. */
export async function expiredTo(sessions: Pick<SessionStores, "open">, session: SessionId): Promise<number> {
  const store = await sessions.open();
  return (await store?.get(session))?.expired_to ?? 0;
}

function sessionInfo(record: SessionRecord & Pick<SessionInfo, "unfinished">): Omit<SessionInfo, "live"> {
  const { id, cwd, provider, model, title, created_at, active_at, last_event, pinned, ended, unfinished } = record;
  const facts = { id, cwd, provider, model, title, created_at, active_at, last_event, pinned, ended, unfinished };
  return { ...facts, branch_of: record.branch_of?.session };
}

async function listProviders({ registry }: ModelSources): Promise<readonly ProviderInfo[]> {
  const states = await registry.providers();
  return states.map(({ name, configured, ready, detail, models }) => {
    return { name, configured, ready, detail, models: models.map((model) => modelInfo(name, model)) };
  });
}

function modelInfo(provider: string, listed: ListedModel): ModelInfo {
  const { id, label, maxContextTokens: window, price, tools, images, thinking } = listed;
  return {
    provider,
    model: id,
    ...(label !== undefined && { label }),
    ...(window !== undefined && { context_window: window }),
    ...(price !== undefined && { price: { input: price.input, output: price.output } }),
    ...(tools !== undefined && { tools }),
    ...(images !== undefined && { images }),
    ...(thinking !== undefined && { thinking }),
  };
}

async function listModels({ registry, routes: from, loaded }: ModelSources): Promise<Queries["ListModels"]["answer"]> {
  const [listed, { routes }, { withCatalogueModels }, { openCatalogue }] = await Promise.all([
    registry.providers(),
    from.list(),
    import("../providers/selection/catalogue-facts.js"),
    import("../providers/catalogue/open-catalogue.js"),
  ]);
  const states = await withCatalogueModels(listed, openCatalogue(loaded));
  const models = states.flatMap(({ name, models }) => models.map((model) => modelInfo(name, model)));
  const problems = states
    .filter(({ ready, configured }) => configured && !ready)
    .map(({ name, detail }) => `${name}: ${detail}`);
  return { models, problems, routes: routes.map(({ name, models: to, enabled }) => ({ name, models: to, enabled })) };
}

async function permissionInfo(permissions: Pick<RunPermissions, "mode" | "parts">): Promise<PermissionInfo> {
  const [{ engine }, { ruleText }, { draftText }] = await Promise.all([
    permissions.parts(),
    import("../security/permissions/rule.js"),
    import("../security/permissions/session-rules.js"),
  ]);
  return {
    mode: permissions.mode,
    rules: engine.policy.rules.map((rule) => ({ number: rule.number, rule: ruleText(rule), file: rule.source.file })),
    session_rules: engine.session.list().map(({ number, draft }) => ({ number, rule: draftText(draft) })),
  };
}

interface EngineState {
  readonly options: EngineOptions;
  readonly clock: Clock;
  /** Finds where other programs reach the engine over HTTP. */
  readonly addresses: () => readonly string[];
  readonly commandsOf: (run: Run) => Promise<CommandRegistry | undefined>;
  readonly reports: ReadonlyMap<string, () => PartState | Promise<PartState>>;
}

export function engineQueries(
  runs: HostedRuns,
  { options, clock, addresses, commandsOf, reports }: EngineState,
): QueryPorts {
  const placeOf = (run: Run | undefined) => runs.placeOf(run);
  let files: Promise<WorkspaceFiles> | undefined;
  const workspaceFiles = () => {
    files ??= import("../tools/search/file-index.js").then(
      (module) => new module.WorkspaceFiles(clock, options.variables.PATH),
    );
    return files;
  };
  return queryPorts({
    sessions: options.sessions,
    placeOf,
    commands: async (run) => {
      const { commandInfos } = await import("./commands/catalogue.js");
      const registry = run && (await commandsOf(run));
      return commandInfos(registry?.list());
    },
    permissionsOf: (run) => runs.get(run)?.permissions,
    place: async (run) => {
      const opened = runs.get(run);
      if (opened === undefined) return undefined;
      const status = await (await placeLists()).placeStatus(opened, opened.place);
      return addresses().length === 0 ? status : { ...status, addresses: addresses() };
    },
    cwd: (run) => placeOf(run).root,
    startedAt: new Date(clock.wall()).toISOString(),
    parts: async () => (await import("./health.js")).partStates({ ...options, reports }),
    profiles: async (run) => (await placeLists()).profilesOf(placeOf(run), options),
    skills: async (run) => (await placeLists()).skillsOf(placeOf(run)),
    skill: async (run, name) => (await placeLists()).skillOf(placeOf(run), name),
    settings: async (run) => (await placeLists()).settingsOf(placeOf(run)),
    mcpServers: async (run) => {
      const { SERVERS } = await import("../extensions/mcp/registry.js");
      return SERVERS.states(run && placeOf(run).root);
    },
    mcpTraffic: async (run, name) => {
      const [{ SERVERS }, { redact }] = await Promise.all([
        import("../extensions/mcp/registry.js"),
        import("../security/redact/redact.js"),
      ]);
      return SERVERS.traffic({ root: placeOf(run).root, name }, redact);
    },
    extensions: async (run) => (await placeLists()).extensionSections(placeOf(run).content?.extensions),
    waiting: async (run, request) =>
      (await import("../security/trust/waiting-answers.js")).listWaiting(placeOf(run), request),
    files: async (run, query, limits) => {
      const { root } = placeOf(run);
      const found = [...(await (await workspaceFiles()).find(root, query, limits))];
      for (const folder of runs.get(run)?.folders.roots ?? []) {
        if (found.length >= limits.limit) break;
        const below = query.startsWith(`${folder}/`) ? query.slice(folder.length + 1) : query;
        const more = await (await workspaceFiles()).find(folder, below, { limit: limits.limit - found.length });
        found.push(...more.map((path) => `${folder}/${path}`));
      }
      return found;
    },
  });
}

const lookingBack = () => import("./sessions/looking-back.js");
const placeLists = () => import("./place-lists.js");
