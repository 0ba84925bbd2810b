/** Sessions: their list, their life and their commands. */
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { CommandKind } from "../../../../protocol/commands.js";
import type { InputContent } from "../../../../protocol/content.js";
import { failure } from "../../../../protocol/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../../protocol/json.js";
import { COMMAND_SCHEMAS } from "../../../door.js";
import { type Call, Refused, refuse } from "../call.js";
import type { Route } from "../route.js";
import { ANYTHING, listOf, refer, SESSION_ID, shape, TEXT, WHOLE, YES_NO } from "../schemas.js";
import { streamEvents } from "../stream-events.js";
import { TurnWait } from "../wait-for-turn.js";

const DEFAULT_EVENTS = 50;
const MOST_EVENTS = 10_000;
const DONE = shape({ ok: { const: true } }, { value: ANYTHING });
const INPUT_SCHEMA: JsonObject = {
  ...COMMAND_SCHEMAS.SendInput,
  properties: {
    ...(COMMAND_SCHEMAS.SendInput.properties as JsonObject),
    content: { anyOf: [TEXT, (COMMAND_SCHEMAS.SendInput.properties as JsonObject).content as JsonObject] },
  },
};

/** A route that sends one command to the session in its path, with the body as its payload. */
function commandRoute(kind: CommandKind, path: string, about: Pick<Route, "name" | "summary">): Route {
  return {
    ...about,
    method: "POST",
    path: `/v1/sessions/{id}/${path}`,
    tag: "sessions",
    body: COMMAND_SCHEMAS[kind],
    answers: { 200: { about: "Done.", schema: DONE } },
    handle: async (call) => {
      const { value } = await call.send(kind, await call.body(), call.session);
      return call.json({ ok: true, ...(value !== undefined && { value }) });
    },
  };
}

export const SESSION_ROUTES: readonly Route[] = [
  {
    method: "GET",
    path: "/v1/sessions",
    name: "listSessions",
    summary: "List sessions, open and stored",
    tag: "sessions",
    query: { cwd: TEXT, limit: { type: "integer", minimum: 1 } },
    answers: { 200: { about: "The sessions.", schema: shape({ sessions: listOf(refer("Session")) }) } },
    handle: async (call) => {
      const { cwd } = call.context.req.query();
      const limit = call.number("limit");
      const request = { empty: true, ...(cwd !== undefined && { cwd }), ...(limit !== undefined && { limit }) };
      return call.json(await call.query("ListSessions", request));
    },
  },
  {
    method: "POST",
    path: "/v1/sessions",
    name: "createSession",
    summary: "Create a session, or open a stored one (resume)",
    tag: "sessions",
    body: COMMAND_SCHEMAS.CreateSession,
    answers: { 201: { about: "The session is open.", schema: shape({ session: SESSION_ID }) } },
    handle: async (call) => {
      const { session } = await call.send("CreateSession", await call.body());
      return call.json({ session }, 201);
    },
  },
  {
    method: "GET",
    path: "/v1/sessions/{id}",
    name: "getSession",
    summary: "A session and its last events",
    tag: "sessions",
    query: { events: { ...WHOLE, maximum: MOST_EVENTS, default: DEFAULT_EVENTS } },
    answers: {
      200: {
        about: "The session. `status` is there while it is open.",
        schema: shape({ session: refer("Session"), events: listOf(refer("Event")) }, { status: { type: "object" } }),
      },
    },
    handle: getSession,
  },
  {
    method: "DELETE",
    path: "/v1/sessions/{id}",
    name: "endSession",
    summary: "End a session; its log stays",
    tag: "sessions",
    answers: { 204: { about: "The session is closed." } },
    handle: endSession,
  },
  {
    method: "GET",
    path: "/v1/sessions/{id}/events",
    name: "streamEvents",
    summary: "Stream the events of a session; resumes after Last-Event-ID",
    tag: "sessions",
    query: { after: WHOLE, after_ts: TEXT, ids: TEXT },
    headers: { "Last-Event-ID": TEXT },
    answers: {
      200: {
        about: "Frames of `id`, `event` and `data`, which is one Event.",
        schema: TEXT,
        type: "text/event-stream",
      },
    },
    handle: streamEvents,
  },
  {
    method: "POST",
    path: "/v1/sessions/{id}/input",
    name: "sendInput",
    summary: "Send input; with wait=turn the response is the outcome of the turn",
    tag: "sessions",
    query: { wait: { enum: ["turn"] } },
    body: INPUT_SCHEMA,
    answers: {
      200: { about: "With wait=turn: the turn has ended.", schema: refer("Turn") },
      202: {
        about: "Accepted; events show how it goes.",
        schema: shape({ state: { enum: ["started", "queue", "steer"] } }, { hint: TEXT }),
      },
    },
    handle: sendInput,
  },
  {
    method: "POST",
    path: "/v1/sessions/{id}/plan-mode",
    name: "setPlanMode",
    summary: "Enter or leave plan mode",
    tag: "sessions",
    body: shape(
      { action: { enum: ["enter", "exit"] } },
      { approve: YES_NO, mode: { enum: ["ask", "auto", "review", "allow", "deny"] } },
    ),
    answers: { 200: { about: "Done.", schema: DONE } },
    handle: async (call) => {
      const { action, approve = false, mode } = await call.body();
      if (action !== "enter" && action !== "exit") throw refuse("InvalidInput", '"action" must be "enter" or "exit".');
      if (action === "enter") await call.send("EnterPlanMode", {}, call.session);
      else await call.send("ExitPlanMode", { approve, ...(mode !== undefined && { mode }) }, call.session);
      return call.json({ ok: true });
    },
  },
  commandRoute("CancelTurn", "cancel", { name: "cancelTurn", summary: "Cancel the running turn" }),
  commandRoute("AnswerPermission", "permission", {
    name: "answerPermission",
    summary: "Answer a question; for humans",
  }),
  commandRoute("SetModel", "model", { name: "setModel", summary: "Use another model from the next turn on" }),
  commandRoute("SetMode", "mode", { name: "setMode", summary: "Change the permission mode; for humans, except plan" }),
];

async function getSession(call: Call): Promise<Response> {
  const { session } = call;
  const limit = call.number("events") ?? DEFAULT_EVENTS;
  if (limit > MOST_EVENTS) throw refuse("InvalidInput", `"events" is at most ${MOST_EVENTS}.`);
  const info = await sessionInfo(call);
  if (info === undefined) throw new Refused(failure("SessionNotFound", { session }));
  const status = info.live ? await call.query("GetStatus", {}, session) : undefined;
  const before = (status?.last_event ?? info.last_event) + 1;
  const { events } = limit === 0 ? { events: [] } : await call.query("ListEvents", { before, limit }, session);
  return call.json({ session: info, ...(status !== undefined && { status }), events });
}

async function sessionInfo(call: Call) {
  const { sessions } = await call.query("ListSessions", { empty: true }, call.session);
  return sessions.find(({ id }) => id === call.session);
}

/** A second request finds the session ended, and succeeds as well. */
async function endSession(call: Call): Promise<Response> {
  const reply = await call.client.send("EndSession", {}, call.session);
  if (!reply.ok && (reply.failure.reason !== "SessionNotFound" || (await sessionInfo(call)) === undefined)) {
    throw new Refused(reply.failure);
  }
  return call.context.body(null, 204);
}

async function sendInput(call: Call): Promise<Response> {
  const { session, client } = call;
  const wait = call.context.req.query("wait");
  if (wait !== undefined && wait !== "turn") throw refuse("InvalidInput", '"wait" must be "turn".');
  const payload = inputPayload(await call.body());
  if (wait === undefined) {
    const { value } = await call.send("SendInput", payload, session);
    return call.json(value ?? {}, 202);
  }
  // The host has not checked the content yet, and events may come before it does.
  const blocks = Array.isArray(payload.content) ? payload.content.filter(isJsonObject) : [];
  const turn = new TurnWait(client.id, blocks as unknown as readonly InputContent[]);
  const left = new Promise<undefined>((resolve) => call.response.once("close", () => resolve(undefined)));
  const followed = await client.follow(session, { canAnswer: false, deliver: (event) => turn.take(event) });
  if (!followed.ok) throw new Refused(followed.failure);
  try {
    const { value } = await call.send("SendInput", payload, session);
    turn.accepted(isJsonObject(value) && value.state === "started" ? "started" : "waiting");
    const outcome = await Promise.race([turn.ended, left]);
    if (outcome === undefined) return RESPONSE_ALREADY_SENT;
    if ("dropped" in outcome) throw refuse("InvalidInput", outcome.dropped);
    return call.json({ session, ...outcome.ended });
  } finally {
    followed.stop();
  }
}

/** `content` may also be plain text, and blocks with a text need no type. */
function inputPayload(body: JsonObject): JsonObject {
  const { content } = body;
  if (typeof content === "string") return { ...body, content: [{ type: "text", text: content }] };
  return Array.isArray(content) ? { ...body, content: content.map(withType) } : body;
}

function withType(block: JsonValue): JsonValue {
  return isJsonObject(block) && block.type === undefined && typeof block.text === "string"
    ? { type: "text", ...block }
    : block;
}
