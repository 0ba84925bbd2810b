/** One engine: hosts sessions, each in its place, and shares the parts of the process between them. */
import { resolve } from "node:path";
import type { Clock } from "../base/clock.js";
import { createIdSource, type IdSource } from "../base/ulid.js";
import type { Variables } from "../base/variables.js";
import type { CommandRegistry } from "../commands/registry.js";
import { MOST_PROMPT } from "../control/door.js";
import { type CustomRequest, Host, type HostPorts, type RunRequest } from "../control/host.js";
import type { Run } from "../control/run.js";
import { inFolders } from "../control/scope.js";
import type { Model } from "../engine/ports.js";
import { NO_EVENTS } from "../extensions/hooks/part.js";
import type { LoadedPlugin } from "../extensions/plugins/plugins.js";
import type { StartedTransports } from "../extensions/plugins/transports.js";
import type { ParsedFlags } from "../feature/flags.js";
import type { CommandReply } from "../protocol/client.js";
import type { SessionKey } from "../protocol/commands.js";
import { type Failure, failure } from "../protocol/errors.js";
import type { SessionEndReason } from "../protocol/events.js";
import type { ClientId, SessionId } from "../protocol/ids.js";
import { isJsonObject } from "../protocol/json.js";
import type { HealthInfo } from "../protocol/queries.js";
import { mayAnswer } from "../security/permissions/identity.js";
import type { LogFunction } from "../system/log.js";
import { nodeClock } from "../system/node-clock.js";
import { realpathSoFar } from "../system/real-path.js";
import type { EngineService } from "./commands/engine.js";
import type { ProjectContent } from "./content/project-content.js";
import { type HostedRun, HostedRuns } from "./hosted-runs.js";
import type { ModelRegistry } from "./models/model-registry.js";
import type { ModelRoutes } from "./models/model-routes.js";
import { openRun } from "./open-run.js";
import type { CreatePart } from "./part.js";
import { engineQueries, expiredTo, storedEvents } from "./queries.js";
import { otherPlace, withStoredPlace } from "./requested-place.js";
import type { LiveSessions } from "./sessions/live-sessions.js";
import { redactInput } from "./sessions/load-redactor.js";
import { RetentionWatch } from "./sessions/retention-watch.js";
import type { SessionStores } from "./sessions/session-stores.js";
import type { LoadedSettings } from "./settings/settings.js";
import { RunningSubagents } from "./subagents.js";

/** Describes where a session works and with what: its folder, profile, settings, approved content and model. */
export interface Place {
  /** The folder to work in, free of symbolic links. */
  readonly root: string;
  readonly loaded: LoadedSettings;
  /** The approved content of the folder. */
  readonly content?: ProjectContent | undefined;
  /** The models of the profile. */
  readonly registry: ModelRegistry;
  readonly routes: ModelRoutes;
  readonly model: Model;
  /** The surroundings of the client that opened the place; absent: those of the process. */
  readonly own?: OwnSurroundings | undefined;
}

/** A client in another process brings its environment and flags, and gets the messages about its session. */
export type OwnSurroundings = Pick<ProcessParts, "variables" | "notify" | "hint"> & {
  readonly flags: ParsedFlags;
  readonly umask?: number | undefined;
  /** The names of the variables that the client left out. */
  readonly withheld?: readonly string[];
  /** Keys that the client gave to the credential helper. */
  readonly keys: readonly SessionKey[];
};

/** Describes what all sessions of the process share. */
export interface ProcessParts {
  readonly variables: Variables;
  readonly sessions: SessionStores;
  readonly log: LogFunction;
  /** The model's answers come from a cassette. */
  readonly isReplay?: boolean;
  /** Shows the user a message now. */
  readonly notify: (message: string) => void;
  /** Shows the user a message, if there is a terminal. */
  readonly hint: (message: string) => void;
  readonly clock?: Clock;
  /** The flags of the command line; they apply in every place. */
  readonly flags?: ParsedFlags;
  /** Reads the flags that a client brings with its environment; absent if no client may. */
  readonly readFlags?: (words: readonly string[], variables: Variables) => ParsedFlags;
  /** The process has no terminal: its first place is no place to work in. */
  readonly isDetached?: boolean;
  /** It only runs a prompt and then ends: no other client waits. */
  readonly isAlone?: boolean;
  /** Each session writes down its raw model traffic from the start. */
  readonly writesTraffic?: boolean;
  /** The plugins of the process; absent without any. */
  readonly plugins?: readonly LoadedPlugin[] | undefined;
  /** Parts that every session gets in addition to the built-in ones. */
  readonly parts?: readonly CreatePart[];
}

export interface EngineOptions extends ProcessParts {
  /** The default place of a session. */
  readonly place: Place;
}

/** Describes what one session is made of. */
export interface SessionParts extends ProcessParts, Place {
  /** Of the client that opened the session; absent: that of the process. */
  readonly umask?: number | undefined;
  /** The names of the variables that this client left out. */
  readonly withheld?: readonly string[];
  /** Keys that this client gave to the credential helper. */
  readonly keys?: readonly SessionKey[];
  readonly clock: Clock;
  readonly ids: IdSource;
  /** The subagents of all sessions that work now; absent where no client can follow them. */
  readonly subagents?: RunningSubagents;
  readonly live?: LiveSessions;
}

export interface Engine {
  readonly host: Host;
  readonly clock: Clock;
  newClientId(): ClientId;
  /** Says how a part of the engine is, for `/health`. */
  report(part: string, state: () => PartState | Promise<PartState>): void;
  /** Shows the clients where other programs reach the engine over HTTP. */
  listensOn(addresses: readonly string[]): void;
  /** Lets commands of a session use what serves the engine. */
  isServedBy(service: EngineService): void;
  /** Ends every run and flushes its log. */
  close(reason?: SessionEndReason): Promise<void>;
}

export type PartState = NonNullable<HealthInfo["parts"]>[string];

export function createEngine(options: EngineOptions): Engine {
  const clock = options.clock ?? nodeClock;
  const ids = createIdSource({ wall: () => clock.wall(), random: fillRandom });
  const runs = new HostedRuns(options.place);
  const commandsOf = (run: Run) => runs.commandsOf(run, host);
  const newClientId = () => ids.next("cli");
  const reports = new Map<string, () => PartState | Promise<PartState>>();
  let addresses: readonly string[] = [];
  /** The transports of plugins. */
  let transports: Promise<StartedTransports | undefined> | undefined;

  const subagents = new RunningSubagents((opened, about) => {
    runs.add(opened);
    return host.follow(opened.run, about);
  });
  const live: LiveSessions = async () => (await import("./sessions/live-sessions.js")).liveSessions(host);
  const open = async (request: RunRequest) => {
    const opened = await openHosted(request, { ...options, clock, ids, subagents, live, runs });
    if ("failure" in opened) return opened;
    runs.add(opened);
    transports ??= openTransports(options, { host, newClientId });
    await transports;
    return opened.run;
  };

  const host = new Host({
    openRun: open,
    ...placePorts((run) => runs.placeOf(run)),
    setModel: (spec, run) => setModel(spec, { run, runs, ids }),
    refuseAnswer,
    custom: async (request) => runCommand(request, await commandsOf(request.run), runs.placeOf(request.run)),
    queries: engineQueries(runs, { options, clock, addresses: () => addresses, commandsOf, reports }),
    history: {
      events: ({ session }, after) => storedEvents(options.sessions, session, after),
      expiredTo: ({ session }) => expiredTo(options.sessions, session),
    },
    clock,
    ...(options.isAlone && { mostText: MOST_PROMPT }),
    ...idlePolicy(options, clock),
    onFault: (session, error) =>
      options.log("error", "engine", "a session was not closed cleanly", { session, error: String(error) }),
  });
  options.sessions.tellBy((message) => host.notifyPeople(message));
  const retention = new RetentionWatch({
    ...{ sessions: options.sessions, clock, log: options.log },
    ...options.place.loaded,
    announce: (announcement) => host.announce(announcement),
  });
  return {
    host,
    clock,
    newClientId,
    report: (part, state) => void reports.set(part, state),
    listensOn: (ports) => {
      addresses = ports;
    },
    isServedBy: (service) => {
      runs.service = service;
    },
    close: async (reason) => {
      // The transports stay until their clients know that the sessions have ended.
      await Promise.all([host.close(reason), retention.close()]);
      await (await transports)?.close();
      await closePlugins(options);
      await options.sessions.close();
    },
  };
}

/** Tells what depends on the place of a run. */
function placePorts(placeOf: (run: Run) => Place): Pick<HostPorts, "inputs" | "approveContent"> {
  return {
    inputs: {
      prepare: async (content, run) => {
        await placeOf(run).routes.prepare(content);
        await redactInput(content);
      },
      hint: (content, run) => placeOf(run).routes.hint(content, placeOf(run).root),
    },
    approveContent: async (run, decisions) =>
      (await import("../security/trust/waiting-answers.js")).approve(placeOf(run), decisions),
  };
}

const NOT_ITS_FOLDER = {
  failure: failure("Forbidden", { detail: "the folder is not among those that it may open." }),
};

/** Opens a run in the place that the request asks for; default: the place of the session before it. */
async function openHosted(
  request: RunRequest,
  engine: EngineOptions & Omit<SessionParts, keyof Place> & { readonly runs: HostedRuns },
): Promise<HostedRun | { readonly failure: Failure }> {
  const { runs, ...parts } = engine;
  const previous = request.after && runs.get(request.after);
  if (engine.isDetached && previous === undefined && request.place?.start === undefined) {
    const start = await (await import("./sessions/session-starts.js")).earlierStart(request.resume, engine);
    return openHosted({ ...request, place: { ...request.place, start } }, engine);
  }
  const current = previous?.place ?? engine.place;
  const asked = await withStoredPlace(request, current, engine);
  const { folders } = request;
  const mayOpen = (folder: string) => folders === undefined || inFolders(folders, folder, engine.place.root);
  // Before anyone looks into the folder: a refusal must not say what is outside.
  if (asked?.cwd !== undefined && !mayOpen(realpathSoFar(resolve(current.root, asked.cwd)))) return NOT_ITS_FOLDER;
  const place =
    asked === undefined
      ? current
      : await otherPlace({ ...request, place: asked }, current, { ...engine, ...current.own });
  if ("failure" in place) return place;
  if (!mayOpen(place.root)) return NOT_ITS_FOLDER;
  const opened = await openRun({ ...parts, ...place, ...place.own }, request, { previous });
  if ("failure" in opened) return opened;
  const { start } = request.place ?? {};
  if (start !== undefined) (await import("./sessions/session-starts.js")).keepStart(start, opened.run, engine);
  return { ...opened, place };
}

const refuseAnswer: HostPorts["refuseAnswer"] = (client, turn) => {
  const may = mayAnswer(client, { originator: turn.id, originatorIdentity: turn.identity });
  return may.ok ? undefined : may.reason;
};

/** Pinned sessions stay open. */
function idlePolicy({ place, sessions }: EngineOptions, clock: Clock): Pick<HostPorts, "idle"> {
  const timeoutMs = place.loaded.settings.session_idle_timeout.value;
  if (timeoutMs === undefined) return {};
  const isPinned = async (session: SessionId) => (await (await sessions.open())?.get(session))?.pinned === true;
  return { idle: { clock, timeoutMs, isPinned } };
}

/** A process without transports of plugins loads none of it. */
export async function openTransports(
  { plugins }: Pick<ProcessParts, "plugins">,
  { host, newClientId }: { readonly host: Host; readonly newClientId: () => ClientId },
): Promise<StartedTransports | undefined> {
  if (plugins?.some(({ registrations }) => registrations.transports.length > 0) !== true) return undefined;
  const [{ startTransports }, { connectInProcess }] = await Promise.all([
    import("../extensions/plugins/transports.js"),
    import("../control/transports/inproc.js"),
  ]);
  return startTransports(plugins, ({ identity = "agent", canAnswer = false } = {}) =>
    connectInProcess(host, { id: newClientId(), identity, canAnswer, passesOn: true }),
  );
}

async function closePlugins({ plugins }: ProcessParts): Promise<void> {
  if (plugins === undefined || plugins.length === 0) return;
  await (await import("../extensions/plugins/plugins.js")).closePlugins(plugins);
}

async function setModel(
  requested: string,
  { run, runs, ids }: { readonly run: Run; readonly runs: HostedRuns; readonly ids: IdSource },
): ReturnType<HostPorts["setModel"]> {
  const { routes, registry } = runs.placeOf(run);
  const resolved = (await routes.resolve(requested)) ?? (await registry.resolve(requested));
  if ("failure" in resolved) return resolved;
  const { events = NO_EVENTS } = runs.get(run) ?? {};
  const { changeModel } = await import("./models/change-model.js");
  const change = { model: resolved.model, requested, source: "sdk" as const };
  const refused = await changeModel(change, { run, events, newCall: () => ids.next("call") });
  return refused === undefined ? resolved : { failure: refused };
}

async function runCommand(
  request: CustomRequest,
  registry: CommandRegistry | undefined,
  place: Pick<Place, "content">,
): Promise<CommandReply> {
  const { namespace, verb } = request;
  // The commands of a plugin are reached by its namespace, too.
  const name = namespace === "slash" ? verb : `${namespace}:${verb}`;
  if (registry === undefined || (namespace !== "slash" && registry.find(name) === undefined)) {
    const detail = `There is no command ${namespace}:${verb}.`;
    return { ok: false, failure: failure("InvalidInput", { detail }) };
  }
  const { args } = isJsonObject(request.payload) ? request.payload : {};
  const words = [name, ...(typeof args === "string" ? args.trim().split(/\s+/, 1) : [])];
  if ("failure" in registry.resolve(words, { surface: "slash" })) {
    const { changedCommand } = await import("../security/trust/waiting-answers.js");
    const changed = await changedCommand(place, words);
    if (changed !== undefined) return { ok: false, failure: changed };
  }
  const { answerSlash } = await import("./commands/session-commands.js");
  return answerSlash(registry, { ...request, verb: name });
}

/** Ids must be unique, not secret: loading the crypto module for them would delay the first request. */
function fillRandom(bytes: Uint8Array): void {
  for (let i = 0; i < bytes.length; i++) bytes[i] = Math.floor(Math.random() * 256);
}
