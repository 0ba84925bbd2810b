/** Describes what an outer agent can read: sessions and their events, and what the engine offers. All as JSON. */
import {
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
  type ResourceTemplateType,
} from "@modelcontextprotocol/server";
import type { EngineClient, QueryReply } from "../../../protocol/client.js";
import type { Envelope } from "../../../protocol/envelope.js";
import { isId, type SessionId } from "../../../protocol/ids.js";
import type { QueryKind } from "../../../protocol/queries.js";
import { storedRange } from "../stored-range.js";

const JSON_TYPE = "application/json";
const LINES_TYPE = "application/x-ndjson";
/** Events of a session that come with its description. */
const LAST_EVENTS = 50;
/** Events of one answer; a reader asks for the rest with `since`. */
const MOST_EVENTS = 1000;
/** Of a log: what a client takes in one piece. */
const MOST_LOG_CHARACTERS = 16 * 1024 * 1024;
const LISTED_SESSIONS = 50;

export const FIXED: readonly Resource[] = [
  { uri: "oxbow://sessions", name: "sessions", description: "the sessions, newest first" },
  { uri: "oxbow://profiles", name: "profiles", description: "the profiles that sessions can use" },
  { uri: "oxbow://providers", name: "providers", description: "the model providers and their state" },
  { uri: "oxbow://tools", name: "tools", description: "the tools of the newest open session, or the built-in ones" },
  { uri: "oxbow://skills", name: "skills", description: "the skills; each is a prompt of this server too" },
  { uri: "oxbow://runtime", name: "runtime", description: "version, sessions, clients and cache counters" },
].map((resource) => ({ ...resource, mimeType: JSON_TYPE }));

export const TEMPLATES: readonly ResourceTemplateType[] = [
  { uriTemplate: "oxbow://session/{id}", name: "session", description: `a session and its last ${LAST_EVENTS} events` },
  {
    uriTemplate: "oxbow://session/{id}/events{?since}",
    name: "session events",
    description: `events after the id in since, at most ${MOST_EVENTS}; subscribe for the live ones`,
  },
  {
    uriTemplate: "oxbow://session/{id}/log",
    name: "session log",
    description: "all stored events, one JSON object a line",
  },
  { uriTemplate: "oxbow://profile/{name}", name: "profile", description: "one profile" },
  { uriTemplate: "oxbow://provider/{name}/models", name: "models", description: "the models of a provider" },
  { uriTemplate: "oxbow://skill/{name}", name: "skill", description: "the text of a skill" },
].map((template) => ({ ...template, mimeType: template.uriTemplate.endsWith("/log") ? LINES_TYPE : JSON_TYPE }));

export async function listResources(client: EngineClient): Promise<Resource[]> {
  const reply = await client.query("ListSessions", { limit: LISTED_SESSIONS, empty: true });
  const sessions = reply.ok ? reply.answer.sessions : [];
  return [
    ...FIXED,
    ...sessions.map(({ id, title, cwd }) => ({
      uri: `oxbow://session/${id}`,
      name: title ?? id,
      description: `session in ${cwd}`,
      mimeType: JSON_TYPE,
    })),
  ];
}

export async function readResource(client: EngineClient, uri: string): Promise<ReadResourceResult> {
  const place = placeOf(uri);
  const found = place && (await READERS[place.kind]?.(client, place));
  if (found === undefined) throw new ResourceNotFoundError(uri);
  const [mimeType, text] =
    typeof found === "string" ? [LINES_TYPE, found] : [JSON_TYPE, JSON.stringify(found, null, 1)];
  return { contents: [{ uri, mimeType, text }] };
}

interface ResourcePlace {
  /** `sessions`, `session`, `session/events` … */
  readonly kind: string;
  readonly name: string;
  readonly since: number | undefined;
}

/** Undefined for a URI that is none of this server's. */
export function placeOf(uri: string): ResourcePlace | undefined {
  const [, path = "", query] = /^oxbow:\/\/([^?#]+)(?:\?([^#]*))?$/.exec(uri) ?? [];
  const [first = "", name = "", ...rest] = path.split("/");
  const since = new URLSearchParams(query ?? "").get("since");
  if (since !== null && !/^\d{1,15}$/.test(since)) return undefined;
  const kind = [first, ...(rest.length > 0 ? [rest.join("/")] : [])].join("/");
  if (path === "" || path.endsWith("/") || !Object.hasOwn(READERS, kind)) return undefined;
  if ((name === "") !== FIXED.some((fixed) => fixed.uri === `oxbow://${kind}`)) return undefined;
  return { kind, name: decoded(name), since: since === null ? undefined : Number(since) };
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** The session that a URI is about; undefined if it is about none. */
export function sessionOfUri(uri: string): SessionId | undefined {
  const place = placeOf(uri);
  if (place === undefined || !/^session(\/|$)/.test(place.kind)) return undefined;
  return isId("sess", place.name) ? place.name : undefined;
}

type Reader = (client: EngineClient, place: ResourcePlace) => Promise<object | string | undefined>;

const READERS: Readonly<Record<string, Reader>> = {
  sessions: async (client) => answerOf(await client.query("ListSessions", { limit: 500, empty: true })),
  session: async (client, { name }) => {
    if (!isId("sess", name)) return undefined;
    const info = await infoOf(client, name);
    if (info === undefined) return undefined;
    const status = await client.query("GetStatus", {}, name);
    const before = info.last_event + 1;
    const events = info.last_event === 0 ? [] : await eventsBefore(client, name, { before, limit: LAST_EVENTS });
    return { ...info, ...(status.ok && { status: status.answer }), events };
  },
  "session/events": async (client, { name, since = 0 }) => {
    const last = isId("sess", name) ? await lastEvent(client, name) : undefined;
    if (last === undefined) return undefined;
    const until = Math.min(last, since + MOST_EVENTS);
    const events: Envelope[] = [];
    let size = 0;
    for await (const event of storedRange(client, name as SessionId, { first: since + 1, before: until + 1 })) {
      size += JSON.stringify(event).length;
      if (size > MOST_LOG_CHARACTERS && events.length > 0) break;
      events.push(event);
    }
    const end = size > MOST_LOG_CHARACTERS ? (events.at(-1)?.id ?? until) : until;
    return { session: name, events, last_event: last, ...(end < last && { next: end }) };
  },
  "session/log": async (client, { name }) => {
    const last = isId("sess", name) ? await lastEvent(client, name) : undefined;
    return last === undefined ? undefined : logOf(client, name as SessionId, last);
  },
  profiles: async (client) => answerOf(await client.query("ListProfiles", {})),
  profile: async (client, { name }) => {
    const reply = await client.query("ListProfiles", {});
    return reply.ok ? reply.answer.profiles.find((profile) => profile.name === name) : undefined;
  },
  providers: async (client) => answerOf(await client.query("ListProviders", {})),
  "provider/models": async (client, { name }) => {
    const reply = await client.query("ListProviders", {});
    const found = reply.ok ? reply.answer.providers.find((provider) => provider.name === name) : undefined;
    return found && { provider: name, models: found.models };
  },
  tools: async (client) => {
    const reply = await client.query("ListSessions", { limit: 500, empty: true });
    const open = reply.ok ? reply.answer.sessions.find(({ live }) => live) : undefined;
    return answerOf(await client.query("ListTools", {}, open?.id));
  },
  skills: async (client) => answerOf(await client.query("ListSkills", {})),
  skill: async (client, { name }) => {
    const reply = await client.query("GetSkill", { name });
    return reply.ok ? reply.answer : undefined;
  },
  runtime: async (client) => answerOf(await client.query("GetHealth", {})),
};

function answerOf<K extends QueryKind>(reply: QueryReply<K>): object {
  if (reply.ok) return reply.answer as object;
  return { error: { reason: reply.failure.reason, message: reply.failure.message } };
}

async function infoOf(client: EngineClient, session: SessionId) {
  const reply = await client.query("ListSessions", { limit: 1, empty: true }, session);
  return reply.ok ? reply.answer.sessions.find(({ id }) => id === session) : undefined;
}

/** An open session may have events that its record does not count yet. */
async function lastEvent(client: EngineClient, session: SessionId): Promise<number | undefined> {
  const status = await client.query("GetStatus", {}, session);
  if (status.ok) return status.answer.last_event;
  return (await infoOf(client, session))?.last_event;
}

async function eventsBefore(
  client: EngineClient,
  session: SessionId,
  range: { readonly before: number; readonly limit: number },
): Promise<readonly Envelope[]> {
  const reply = await client.query("ListEvents", range, session);
  return reply.ok ? reply.answer.events : [];
}

async function logOf(client: EngineClient, session: SessionId, last: number): Promise<string> {
  const lines: string[] = [];
  let size = 0;
  for (let first = 1; first <= last; first += MOST_EVENTS) {
    const before = Math.min(first + MOST_EVENTS, last + 1);
    for await (const event of storedRange(client, session, { first, before })) {
      const line = JSON.stringify(event);
      size += line.length + 1;
      if (size > MOST_LOG_CHARACTERS) {
        const next = event.id - 1;
        const message = `Read the rest with oxbow://session/${session}/events?since=${next}`;
        return [...lines, JSON.stringify({ cut: true, next, message })].join("\n");
      }
      lines.push(line);
    }
  }
  return lines.join("\n");
}
