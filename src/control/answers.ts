/** Answers queries: from the run if it can, otherwise from the ports of the runtime. */
import type { Tool } from "../engine/ports.js";
import type { QueryReply } from "../protocol/client.js";
import type { Envelope } from "../protocol/envelope.js";
import { type Failure, failure } from "../protocol/errors.js";
import type { SessionId } from "../protocol/ids.js";
import type {
  ClientInfo,
  CommandInfo,
  Comparison,
  ExtensionSection,
  HealthInfo,
  McpMessage,
  McpServerInfo,
  PermissionInfo,
  PlaceStatus,
  ProfileInfo,
  ProviderInfo,
  Queries,
  QueryKind,
  SessionInfo,
  SettingInfo,
  SkillInfo,
  WaitingContent,
} from "../protocol/queries.js";
import type { HostedSession } from "./hosted-sessions.js";
import type { Run } from "./run.js";

type ToolSummary = Pick<Tool, "name" | "description" | "inputSchema" | "mutating">;

/** Describes what the host cannot know itself. */
export interface QueryPorts {
  sessions?(
    filter: Queries["ListSessions"]["request"] & { readonly id?: SessionId },
  ): Promise<readonly Omit<SessionInfo, "live">[]>;
  /** The folder of an open session; without one, the folder of the engine. */
  cwd?(run: Run | undefined): string;
  profiles?(run: Run | undefined): Promise<readonly ProfileInfo[]>;
  providers?(run: Run | undefined): Promise<readonly ProviderInfo[]>;
  skills?(run: Run | undefined): Promise<readonly SkillInfo[]>;
  skill?(run: Run | undefined, name: string): Promise<(SkillInfo & { readonly body: string }) | undefined>;
  settings?(run: Run | undefined): Promise<readonly SettingInfo[]>;
  mcpServers?(run: Run | undefined): Promise<readonly McpServerInfo[]>;
  health?(): Promise<Omit<HealthInfo, "sessions" | "clients">>;
  /** Of the session's profile, or of the first place. */
  models?(run: Run | undefined): Promise<Queries["ListModels"]["answer"]>;
  /** Those of a session, or the built-in ones. */
  commands?(run: Run | undefined): Promise<readonly CommandInfo[]>;
  /** The tools that sessions have unless something narrows them. */
  builtInTools?(): Promise<readonly ToolSummary[]>;
  permissions?(run: Run): Promise<PermissionInfo | undefined>;
  place?(run: Run): Promise<PlaceStatus | undefined>;
  extensions?(run: Run): Promise<readonly ExtensionSection[]>;
  /** Stored events after an id, in order. */
  events?(session: SessionId, after: number): AsyncIterable<Envelope>;
  turns?(session: SessionId): Promise<Queries["ListTurns"]["answer"]["turns"]>;
  changes?(
    session: SessionId,
    range: Queries["GetChanges"]["request"],
  ): Promise<Queries["GetChanges"]["answer"] | undefined>;
  compare?(sessions: readonly SessionId[]): Promise<Comparison>;
  /** `sees`: the sessions that count. */
  costs?(
    request: Queries["GetCosts"]["request"] & { readonly session?: SessionId },
    sees: QueryPlace["sees"],
  ): Promise<Queries["GetCosts"]["answer"] | undefined>;
  mcpTraffic?(run: Run, server: string): Promise<readonly McpMessage[] | undefined>;
  waiting?(run: Run, request: Queries["ListWaitingContent"]["request"]): Promise<readonly WaitingContent[] | undefined>;
  files?(run: Run, query: string, options: { readonly limit: number }): Promise<readonly string[]>;
}

export interface QueryPlace {
  readonly ports: QueryPorts | undefined;
  readonly run: Run | undefined;
  /** As the client named it. */
  readonly session: SessionId | undefined;
  readonly live: readonly HostedSession[];
  readonly clients: () => readonly ClientInfo[];
  /** The client may see less than the user who runs the engine. */
  readonly isLimited: boolean;
  /** Tells whether the client may see a session; `cwd` is its folder, and need not be given for an open one. */
  readonly sees: (session: SessionId, cwd?: string) => boolean;
}

type Answers = {
  readonly [K in QueryKind]: (
    request: Queries[K]["request"],
    place: QueryPlace,
  ) => Promise<Queries[K]["answer"] | undefined> | Queries[K]["answer"] | undefined;
};

type EngineKind =
  | "ListSessions"
  | "ListModels"
  | "ListTools"
  | "ListCommands"
  | "ListClients"
  | "ListProfiles"
  | "ListProviders"
  | "ListSkills"
  | "GetSkill"
  | "ListSettings"
  | "ListMcpServers"
  | "GetHealth"
  | "ListEvents"
  | "ListTurns"
  | "GetChanges"
  | "CompareSessions"
  | "GetCosts"
  | "ListMcpTraffic";

/** Undefined: this engine does not support it. */
const ENGINE: Pick<Answers, EngineKind> = {
  ListSessions: async ({ empty, subagents, ...filter }, place) => {
    const { session: id, sees, live } = place;
    // Asked before the store: one that is stored in between is in both, and not missing.
    const notStored = new Set(live.filter(({ run }) => isNotStored(run)));
    const found = await place.ports?.sessions?.({ ...filter, ...(id !== undefined && { id }) });
    if (found === undefined) return undefined;
    const known = new Set(found.map((session) => session.id));
    const unsaved = (empty ? live : [])
      .filter((hosted) => hosted.subagent === undefined && notStored.has(hosted) && !known.has(hosted.run.session))
      .flatMap((hosted) => liveInfo(hosted, place));
    const running = (subagents ? live : [])
      .filter(({ subagent, run }) => subagent !== undefined && !known.has(run.session))
      .flatMap((hosted) => liveInfo(hosted, place));
    const fitting = [...unsaved, ...running].filter(({ cwd }) => filter.cwd === undefined || cwd === filter.cwd);
    const openRun = (session: SessionId) => live.find(({ run }) => run.session === session)?.run;
    const sessions = [...fitting, ...found]
      .filter((session) => sees(session.id, session.cwd) && (id === undefined || session.id === id))
      .map((session) => ({ ...session, ...stateOf(openRun(session.id)) }));
    return { sessions: sessions.slice(0, filter.limit) };
  },
  ListModels: (_request, { ports, run }) => ports?.models?.(run),
  ListTools: async (_request, { ports, run }) => {
    const tools = run === undefined ? await ports?.builtInTools?.() : run.tools.list();
    if (tools === undefined) return undefined;
    return {
      tools: tools.map(({ name, description, inputSchema, mutating }) => {
        return { name, description, parameters: inputSchema, mutating };
      }),
    };
  },
  ListCommands: async (_request, { ports, run }) => {
    const commands = await ports?.commands?.(run);
    return commands && { commands };
  },
  ListClients: (_request, { clients, session, isLimited, sees }) => ({
    clients: clients()
      .map(({ token, ...client }) => {
        const sessions = client.sessions.filter((each) => sees(each));
        return { ...client, sessions, ...(!isLimited && token !== undefined && { token }) };
      })
      .filter(({ sessions }) =>
        session === undefined ? !isLimited || sessions.length > 0 : sessions.includes(session),
      ),
  }),
  ListProfiles: async (_request, { ports, run }) => {
    const profiles = await ports?.profiles?.(run);
    return profiles && { profiles };
  },
  ListProviders: async (_request, { ports, run }) => {
    const providers = await ports?.providers?.(run);
    return providers && { providers };
  },
  ListSkills: async (_request, { ports, run }) => {
    const skills = await ports?.skills?.(run);
    return skills && { skills };
  },
  GetSkill: async ({ name }, { ports, run }) => {
    const skill = await ports?.skill?.(run, name);
    if (skill === undefined) throw new Error(`there is no skill ${name}`);
    return skill;
  },
  ListSettings: async (_request, { ports, run, isLimited }) => {
    const settings = isLimited ? [] : await ports?.settings?.(run);
    return settings && { settings };
  },
  ListMcpServers: async (_request, { ports, run, isLimited }) => {
    // Without a session it would list those of all sessions.
    if (run === undefined && isLimited) return { servers: [] };
    return { servers: (await ports?.mcpServers?.(run)) ?? [] };
  },
  GetHealth: async (_request, { ports, live, clients, isLimited, sees }) => {
    const health = await ports?.health?.();
    if (health === undefined || !isLimited) {
      const sessions = live.filter(({ subagent }) => subagent === undefined).length;
      return health && { ...health, sessions, clients: clients().length };
    }
    // The state of the parts is about the machine and other sessions.
    const { version, protocol_version, pid, started_at } = health;
    const counts = {
      sessions: live.filter(({ run }) => sees(run.session)).length,
      clients: clients().filter(({ sessions }) => sessions.some((each) => sees(each))).length,
    };
    return { version, protocol_version, pid, started_at, ...counts };
  },
  ListEvents: async ({ before, limit }, { ports, session, run, live }) => {
    const stored = ports?.events;
    if (stored === undefined || session === undefined) return undefined;
    const [record] = run === undefined ? ((await ports?.sessions?.({ id: session })) ?? []) : [];
    const end = run === undefined ? (record?.last_event ?? 0) + 1 : run.bus.nextId;
    const range = { before: Math.min(before, end), ...(limit !== undefined && { limit }) };
    const newest = live.find((hosted) => hosted.run === run)?.attached.newest ?? [];
    return { events: await lastEvents((after) => stored(session, after), newest, range) };
  },
  ListTurns: async (_request, { ports, session }) => {
    const turns = session && (await ports?.turns?.(session));
    return turns && { turns };
  },
  GetChanges: (request, { ports, session }) => session && ports?.changes?.(session, request),
  CompareSessions: async ({ others }, { ports, session, sees }) => {
    if (session === undefined || ports?.compare === undefined) return undefined;
    for (const other of others) {
      const [found] = (await ports.sessions?.({ id: other })) ?? [];
      // One that is out of sight and one that does not exist are refused alike.
      if (found === undefined || !sees(found.id, found.cwd)) throw new Error(`there is no session ${other}`);
    }
    return ports.compare([session, ...others]);
  },
  GetCosts: (request, { ports, session, sees }) =>
    ports?.costs?.({ ...request, ...(session !== undefined && { session }) }, sees),
  ListMcpTraffic: async ({ server }, { ports, run, isLimited }) => {
    // Sessions of one folder share a server, so its messages are not those of one session alone.
    if (isLimited) throw new Error("it needs a token without limits");
    const messages = run && (await ports?.mcpTraffic?.(run, server));
    return messages && { messages };
  },
};

/** Nothing has happened in it, its first events are on their way to the store, or the engine stores no sessions. */
function isNotStored({ savedTo }: Run): boolean {
  return savedTo === 0 || savedTo === Number.POSITIVE_INFINITY;
}

function stateOf(run: Run | undefined): Pick<SessionInfo, "live" | "busy" | "questions"> {
  const { length } = run?.permissionPrompts.questions ?? [];
  return { live: run !== undefined, ...(run?.busy && { busy: true }), ...(length > 0 && { questions: length }) };
}

function liveInfo(
  { run, openedAt, subagent }: HostedSession,
  { ports }: QueryPlace,
): readonly Omit<SessionInfo, "live">[] {
  const cwd = ports?.cwd?.(run);
  if (cwd === undefined) return [];
  const { session: id, model, bus } = run;
  const times = { created_at: openedAt, active_at: openedAt };
  const facts = { id, cwd, provider: model.provider, model: model.model, ...times };
  return [{ ...facts, last_event: bus.nextId - 1, pinned: false, ...(subagent && { title: subagent.title }) }];
}

type RunAnswer<K extends QueryKind> = (
  run: Run,
  ports: QueryPorts | undefined,
  request: Queries[K]["request"],
) => Promise<Queries[K]["answer"] | undefined> | Queries[K]["answer"] | undefined;

type RunAnswers = { readonly [K in Exclude<QueryKind, EngineKind>]: RunAnswer<K> };

const OF_RUN: RunAnswers = {
  GetPermissions: (run, ports) => ports?.permissions?.(run),
  ListQuestions: (run) => ({ questions: run.permissionPrompts.questions }),
  GetStatus: async (run, ports) => {
    const { session, model, busy, waiting, conversation, originator, bus } = run;
    const { provider, model: name } = model;
    const counts = { waiting, messages: conversation.length, last_event: bus.nextId - 1 };
    const time = bus.lastAt === undefined ? {} : { last_event_ts: bus.lastAt };
    const place = await ports?.place?.(run);
    // A session without an event is not stored.
    const stored = bus.nextId > 1 ? await ports?.sessions?.({ id: session }) : undefined;
    const title = stored?.[0]?.title;
    const plan = run.hasPlan && { plan_waits: true as const };
    const names = { ...(title !== undefined && { title }), ...(place && { place }), ...plan };
    return { session, provider, model: name, busy, ...counts, ...time, originator, ...names };
  },
  FindFiles: async (run, ports, { query, limit = MOST_FILES }) => {
    const paths = await ports?.files?.(run, query, { limit });
    return paths && { paths };
  },
  ListExtensions: async (run, ports) => {
    const sections = await ports?.extensions?.(run);
    return sections && { sections };
  },
  ListWaitingContent: async (run, ports, request) => {
    const items = await ports?.waiting?.(run, request);
    return items && { items };
  },
};

const MOST_FILES = 50;
const MOST_EVENTS = 2000;

/** Of the texts of an answer: it is made, sent and kept as a whole. */
const MOST_CHARACTERS = 8 * 1024 * 1024;

/** Ids have no gaps, so the place of the first one is known. The newest ones of an open session may not be stored yet. */
async function lastEvents(
  stored: (after: number) => AsyncIterable<Envelope>,
  newest: readonly Envelope[],
  { before, limit = MOST_EVENTS }: Queries["ListEvents"]["request"],
): Promise<readonly Envelope[]> {
  const after = Math.max(0, before - 1 - limit);
  const events: { readonly event: Envelope; readonly size: number }[] = [];
  let size = 0;
  const add = (event: Envelope) => {
    const own = charactersOf(event.payload);
    events.push({ event, size: own });
    size += own;
    while (size > MOST_CHARACTERS && events.length > 1) size -= events.shift()?.size ?? 0;
  };
  for await (const event of stored(after)) {
    if (event.id >= before) break;
    add(event);
  }
  const last = events.at(-1)?.event.id ?? after;
  for (const event of newest) if (event.id > last && event.id < before) add(event);
  return events.map(({ event }) => event);
}

function charactersOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((sum: number, each) => sum + charactersOf(each), 0);
}

export async function answerAbout<K extends QueryKind>(
  kind: K,
  request: Queries[K]["request"],
  place: QueryPlace,
): Promise<QueryReply<K>> {
  const isOfOpenSession =
    Object.hasOwn(OF_RUN, kind) || kind === "ListMcpTraffic" || (kind === "ListTools" && place.session !== undefined);
  if ((isOfOpenSession || OF_SESSION.has(kind)) && !isKnown(kind, place)) {
    return refuse(failure("SessionNotFound", { session: place.session ?? "(none given)" }));
  }
  try {
    const answer = await answerOf(kind, request, place);
    if (answer === undefined) return unsupported(kind);
    return { ok: true, answer: answer as Queries[K]["answer"] };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return refuse(failure("InvalidInput", { detail: `${kind} could not be answered: ${detail}` }));
  }
}

/** Stored sessions have them too. */
const OF_SESSION: ReadonlySet<QueryKind> = new Set(["ListEvents", "ListTurns", "GetChanges", "CompareSessions"]);

function isKnown(kind: QueryKind, { run, session }: QueryPlace): boolean {
  return OF_SESSION.has(kind) ? session !== undefined : run !== undefined;
}

function answerOf<K extends QueryKind>(kind: K, request: Queries[K]["request"], place: QueryPlace) {
  if (isEngineKind(kind)) return (ENGINE[kind] as Answers[K])(request, place);
  const answer = OF_RUN[kind as Exclude<QueryKind, EngineKind>] as unknown as RunAnswer<K>;
  return place.run && answer(place.run, place.ports, request);
}

function isEngineKind(kind: QueryKind): kind is EngineKind {
  return Object.hasOwn(ENGINE, kind);
}

function unsupported(kind: QueryKind) {
  return refuse(failure("InvalidInput", { detail: `${kind} is not supported by this engine.` }));
}

function refuse(reason: Failure): { readonly ok: false; readonly failure: Failure } {
  return { ok: false, failure: reason };
}
