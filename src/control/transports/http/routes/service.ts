/** The handshake, the state of the server, and the two routes that take every command and every query. */
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { CommandReply, QueryReply } from "../../../../protocol/client.js";
import { COMMAND_KINDS, type CommandKind } from "../../../../protocol/commands.js";
import { failure } from "../../../../protocol/errors.js";
import { isId, type SessionId } from "../../../../protocol/ids.js";
import type { JsonObject } from "../../../../protocol/json.js";
import type { QueryKind } from "../../../../protocol/queries.js";
import { QUERY_KINDS } from "../../../../protocol/query-kinds.js";
import { COMMAND_SCHEMAS, QUERY_SCHEMAS } from "../../../door.js";
import { type Call, Refused, refuse } from "../call.js";
import { errorHeaders, statusOf } from "../refusal.js";
import type { Route } from "../route.js";
import { refer, SESSION_ID, shape, TEXT, YES_NO } from "../schemas.js";

/** One alternative for each kind. */
function eachKind(schemas: Readonly<Record<string, JsonObject>>, field: "payload" | "request"): JsonObject {
  return {
    oneOf: Object.entries(schemas).map(([kind, schema]) =>
      shape({ kind: { const: kind }, [field]: schema }, { session: SESSION_ID }),
    ),
  };
}

export const SERVICE_ROUTES: readonly Route[] = [
  {
    method: "GET",
    path: "/v1/handshake",
    name: "handshake",
    summary: "Open a connection: checks the protocol version and creates a client. Commands are refused before this",
    tag: "service",
    query: { protocol_version: TEXT, name: TEXT, can_answer: YES_NO, identity: { enum: ["agent"] } },
    answers: {
      200: { about: "The versions and kinds of the engine, and the id of the client.", schema: refer("Handshake") },
    },
    handle: (call) => {
      const { protocol_version, name, can_answer, identity } = call.context.req.query();
      const hello = {
        ...(protocol_version !== undefined && { protocol_version }),
        client: {
          ...(name !== undefined && { name }),
          ...(can_answer === "false" && { can_answer: false }),
          ...(identity === "agent" && { identity: "agent" as const }),
        },
      };
      return call.json(call.service.clients.handshake(call.caller, hello, call.context.req.header("x-oxbow-client")));
    },
  },
  {
    method: "DELETE",
    path: "/v1/handshake",
    name: "leave",
    summary: "Leave: the engine forgets the client that X-Oxbow-Client names. Its sessions continue",
    tag: "service",
    answers: { 204: { about: "The engine has forgotten the client, or never knew it." } },
    handle: (call) => {
      call.service.clients.leave(call.caller, call.context.req.header("x-oxbow-client") ?? "");
      return call.context.body(null, 204);
    },
  },
  {
    method: "GET",
    path: "/v1/health",
    name: "health",
    summary: "Whether the engine works, and its version",
    tag: "service",
    answers: { 200: { about: "It works.", schema: shape({ version: TEXT, protocol_version: TEXT }) } },
    handle: async (call) => call.json(await call.query("GetHealth")),
  },
  {
    method: "GET",
    path: "/v1/openapi.json",
    name: "openApi",
    summary: "This document",
    tag: "service",
    answers: { 200: { about: "An OpenAPI 3.1 document.", schema: { type: "object" } } },
    handle: (call) => call.json(call.service.openApi()),
  },
  {
    method: "POST",
    path: "/v1/commands",
    name: "sendCommand",
    summary: "Send any command",
    tag: "service",
    body: eachKind(COMMAND_SCHEMAS, "payload"),
    answers: {
      200: { about: "The reply. A refused command has the status of its failure.", schema: refer("CommandReply") },
    },
    refusal: refer("CommandReply"),
    handle: async (call) => {
      const { kind, payload = {}, session: named } = await call.body();
      if (!COMMAND_KINDS.includes(kind as CommandKind)) throw unknownKind(COMMAND_KINDS);
      const session = sessionOf(named);
      if (kind === "AttachSession" && session !== undefined) return replyTo(call, await openSession(call, session));
      return replyTo(call, await call.client.send(kind as CommandKind, payload as never, session));
    },
  },
  {
    method: "POST",
    path: "/v1/queries",
    name: "sendQuery",
    summary: "Send any query",
    tag: "service",
    body: eachKind(QUERY_SCHEMAS, "request"),
    answers: {
      200: { about: "The reply. A refused query has the status of its failure.", schema: refer("QueryReply") },
    },
    refusal: refer("QueryReply"),
    handle: async (call) => {
      const { kind, request = {}, session } = await call.body();
      if (!QUERY_KINDS.includes(kind as QueryKind)) throw unknownKind(QUERY_KINDS);
      return replyTo(call, await call.reader.query(kind as QueryKind, request as never, sessionOf(session)));
    },
  },
];

/** Events come over `GET /v1/sessions/{id}/events`, so attaching only opens the session. */
async function openSession(call: Call, session: SessionId): Promise<CommandReply> {
  const followed = await call.client.follow(session, { canAnswer: false, deliver: () => {} });
  if (!followed.ok) return followed;
  followed.stop();
  return { ok: true };
}

function replyTo(call: Call, reply: CommandReply | QueryReply<QueryKind>): Response {
  if (reply.ok) return call.json(reply);
  const status = statusOf(reply.failure) as ContentfulStatusCode;
  return call.context.json({ ok: false, failure: reply.failure }, status, errorHeaders(reply.failure));
}

function unknownKind(kinds: readonly string[]): Refused {
  return refuse("InvalidInput", `"kind" must be one of ${kinds.join(", ")}.`);
}

function sessionOf(value: unknown): SessionId | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string" && isId("sess", value)) return value;
  throw new Refused(failure("InvalidInput", { detail: '"session" must be the id of a session (sess_…).' }));
}
