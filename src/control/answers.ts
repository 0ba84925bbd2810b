/** Answers queries: from the run if it can, otherwise from the ports of the runtime. */
import type { QueryReply } from "../protocol/client.js";
import type { Envelope } from "../protocol/envelope.js";
import { type Failure, failure } from "../protocol/errors.js";
import type { SessionId } from "../protocol/ids.js";
import type {
  CommandInfo,
  ExtensionSection,
  PermissionInfo,
  PlaceStatus,
  Queries,
  QueryKind,
  SessionInfo,
  WaitingContent,
} from "../protocol/queries.js";
import type { Run } from "./run.js";

/** What the host cannot know itself. */
export interface QueryPorts {
  sessions?(filter: Queries["ListSessions"]["request"]): Promise<readonly Omit<SessionInfo, "live">[]>;
  /** Of the session's profile, or of the first place. */
  models?(run: Run | undefined): Promise<Queries["ListModels"]["answer"]>;
  /** Those of a session, or the built-in ones. */
  commands?(run: Run | undefined): Promise<readonly CommandInfo[]>;
  permissions?(run: Run): Promise<PermissionInfo | undefined>;
  place?(run: Run): Promise<PlaceStatus | undefined>;
  extensions?(run: Run): Promise<readonly ExtensionSection[]>;
  /** Stored events after an id, in order. */
  events?(run: Run, after: number): AsyncIterable<Envelope>;
  waiting?(run: Run, request: Queries["ListWaitingContent"]["request"]): Promise<readonly WaitingContent[] | undefined>;
  files?(run: Run, query: string, options: { readonly limit: number }): Promise<readonly string[]>;
}

export interface QueryPlace {
  readonly ports: QueryPorts | undefined;
  readonly run: Run | undefined;
  /** As the client named it. */
  readonly session: SessionId | undefined;
  readonly isLive: (session: SessionId) => boolean;
}

type Answers = {
  readonly [K in QueryKind]: (
    request: Queries[K]["request"],
    place: QueryPlace,
  ) => Promise<Queries[K]["answer"] | undefined> | Queries[K]["answer"] | undefined;
};

/** Undefined: this engine does not support it. */
const ENGINE: Pick<Answers, "ListSessions" | "ListModels" | "ListCommands"> = {
  ListSessions: async (filter, { ports, isLive }) => {
    const found = await ports?.sessions?.(filter);
    return found && { sessions: found.map((session) => ({ ...session, live: isLive(session.id) })) };
  },
  ListModels: (_request, { ports, run }) => ports?.models?.(run),
  ListCommands: async (_request, { ports, run }) => {
    const commands = await ports?.commands?.(run);
    return commands && { commands };
  },
};

type RunAnswers = {
  readonly [K in Exclude<QueryKind, keyof typeof ENGINE>]: (
    run: Run,
    ports: QueryPorts | undefined,
    request: Queries[K]["request"],
  ) => Promise<Queries[K]["answer"] | undefined> | Queries[K]["answer"] | undefined;
};

const OF_RUN: RunAnswers = {
  ListTools: (run) => ({
    tools: run.tools.list().map(({ name, description, inputSchema, mutating }) => {
      return { name, description, parameters: inputSchema, mutating };
    }),
  }),
  GetPermissions: (run, ports) => ports?.permissions?.(run),
  ListQuestions: (run) => ({ questions: run.permissionPrompts.questions }),
  GetStatus: async (run, ports) => {
    const { session, model, busy, waiting, conversation, originator, bus } = run;
    const { provider, model: name } = model;
    const counts = { waiting, messages: conversation.length, last_event: bus.nextId - 1 };
    const place = await ports?.place?.(run);
    return { session, provider, model: name, busy, ...counts, originator, ...(place && { place }) };
  },
  FindFiles: async (run, ports, { query, limit = MOST_FILES }) => {
    const paths = await ports?.files?.(run, query, { limit });
    return paths && { paths };
  },
  ListEvents: async (run, ports, request) => {
    const stored = ports?.events;
    return stored && { events: await lastEvents((after) => stored(run, after), request) };
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

/** Ids have no gaps, so the place of the first one is known. */
async function lastEvents(
  stored: (after: number) => AsyncIterable<Envelope>,
  { before, limit = MOST_EVENTS }: Queries["ListEvents"]["request"],
): Promise<readonly Envelope[]> {
  const events: Envelope[] = [];
  for await (const event of stored(Math.max(0, before - 1 - limit))) {
    if (event.id >= before) break;
    events.push(event);
  }
  return events;
}

export async function answerAbout<K extends QueryKind>(
  kind: K,
  request: Queries[K]["request"],
  place: QueryPlace,
): Promise<QueryReply<K>> {
  if (Object.hasOwn(OF_RUN, kind) && place.run === undefined) {
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

function answerOf(kind: QueryKind, request: object, place: QueryPlace) {
  switch (kind) {
    case "ListSessions":
    case "ListModels":
    case "ListCommands":
      return ENGINE[kind](request, place);
    case "FindFiles":
      return place.run && OF_RUN[kind](place.run, place.ports, request as Queries["FindFiles"]["request"]);
    case "ListEvents":
      return place.run && OF_RUN[kind](place.run, place.ports, request as Queries["ListEvents"]["request"]);
    case "ListWaitingContent":
      return place.run && OF_RUN[kind](place.run, place.ports, request as Queries["ListWaitingContent"]["request"]);
    default:
      return place.run && OF_RUN[kind](place.run, place.ports, request);
  }
}

function unsupported(kind: QueryKind) {
  return refuse(failure("InvalidInput", { detail: `${kind} is not supported by this engine.` }));
}

function refuse(reason: Failure): { readonly ok: false; readonly failure: Failure } {
  return { ok: false, failure: reason };
}
