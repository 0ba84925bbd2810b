/**
 * Describes what the tools of the MCP server do.
 *
 * 1. Their client is an agent. The engine refuses it every answer to a question, every approval and every wider mode; nothing here asks
 *    for one on its behalf.
 * 2. A refusal is a result with `isError` and a reason, so that the outer agent can react to it.
 */

import { isAbsolute } from "node:path";
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Clock } from "../../../base/clock.js";
import { schemaProblems } from "../../../base/json-schema.js";
import type { CommandReply, EngineClient } from "../../../protocol/client.js";
import { text } from "../../../protocol/content.js";
import type { Envelope } from "../../../protocol/envelope.js";
import { type Failure, failure } from "../../../protocol/errors.js";
import { isId, type SessionId } from "../../../protocol/ids.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json.js";
import { readSlashAnswer, slashRequest } from "../../../protocol/slash-command.js";
import { watchTurn } from "./agent-turn.js";
import { RUN_TOOL, TOOLS } from "./tool-schemas.js";

export interface ToolPlace {
  readonly client: EngineClient;
  readonly clock: Clock;
  /** The folder of new sessions that name none. */
  readonly cwd: string | undefined;
  readonly banner: string;
  /** A session began for this client. */
  readonly onSession: (session: SessionId) => void;
  /** A call of the session waits for a person. */
  readonly onQuestion: (session: SessionId, summary: string) => void;
}

export interface ToolRequest {
  readonly name: string;
  readonly args: JsonObject;
  readonly signal: AbortSignal;
  readonly onProgress?: ((message: string) => void) | undefined;
}

type Handler = (place: ToolPlace, args: JsonObject, request: ToolRequest) => Promise<JsonObject>;

/** A failure on its way to the result. */
class Refused extends Error {
  readonly failure: Failure;

  constructor(cause: Failure) {
    super(cause.message);
    this.failure = cause;
  }
}

/** Undefined if there is no such tool. `oxbow.NAME` is the same tool: some clients write it so. */
export async function callTool(place: ToolPlace, request: ToolRequest): Promise<CallToolResult | undefined> {
  const name = request.name.replace(/^oxbow[._]/, "");
  const tool = TOOLS.find((each) => each.name === name);
  const handler = Object.hasOwn(HANDLERS, name) ? HANDLERS[name] : undefined;
  if (tool === undefined || handler === undefined) return undefined;
  const [problem] = schemaProblems(tool.inputSchema as JsonObject, request.args);
  if (problem !== undefined) return refusal(failure("InvalidInput", { detail: `${name}: ${problem}.` }));
  try {
    return success(await handler(place, request.args, request));
  } catch (error) {
    if (error instanceof Refused) return refusal(error.failure);
    throw error;
  }
}

function success(value: JsonObject): CallToolResult {
  const { text: answer, ...rest } = value;
  const summary = { type: "text" as const, text: JSON.stringify(rest, null, 1) };
  const content = typeof answer === "string" ? [{ type: "text" as const, text: answer }, summary] : [summary];
  return { content, structuredContent: { ...value }, ...(value.state === "failed" && { isError: true }) };
}

export function refusal({ reason, message }: Failure): CallToolResult {
  return {
    content: [{ type: "text", text: message }],
    structuredContent: { error: { reason, message } },
    isError: true,
  };
}

const HANDLERS: Readonly<Record<string, Handler>> = {
  [RUN_TOOL]: async (place, args, request) => {
    const session = args.session === undefined ? await create(place, args) : await attach(place, args);
    const input = { text: String(args.prompt), skill: args.skill };
    if (args.wait === "none") return { ...(await send(place, session, input)), banner: place.banner };
    return { ...(await runTurn(place, { session, input, args, request })), banner: place.banner };
  },
  create_session: async (place, args) => {
    const session = await create(place, args);
    if (args.plan === true) demand(await place.client.send("EnterPlanMode", {}, session));
    return { ...(await describe(place, session)), banner: place.banner };
  },
  list_sessions: async ({ client }, { cwd, limit = 50 }) => {
    const filter = {
      limit: Number(limit),
      empty: true as const,
      ...(typeof cwd === "string" && { cwd: absolute(cwd) }),
    };
    const reply = await client.query("ListSessions", filter);
    if (!reply.ok) throw new Refused(reply.failure);
    return { sessions: reply.answer.sessions.map((session) => ({ ...session })) };
  },
  attach_session: async (place, args) => describe(place, await attach(place, args)),
  detach_session: async ({ client }, args) => {
    const session = sessionOf(args);
    demand(await client.send("DetachSession", {}, session));
    return { session, state: "detached" };
  },
  send_input: async (place, args) => {
    const session = await attach(place, args);
    return send(place, session, { text: String(args.text), skill: args.skill, queue: args.queue === true });
  },
  wait_for_turn: async (place, args, request) => {
    const session = await attach(place, args);
    if (typeof args.text === "string") return runTurn(place, { session, input: { text: args.text }, args, request });
    return waitForRunning(place, { session, args, request });
  },
  cancel_turn: async ({ client }, args) => {
    const session = sessionOf(args);
    demand(await client.send("CancelTurn", {}, session));
    return { session, state: "cancelled" };
  },
  answer_permission: async (_place, args) => {
    throw new Refused(failure("Forbidden", { detail: whoAnswers(sessionOf(args)) }));
  },
  set_model: async ({ client }, args) => {
    const session = sessionOf(args);
    const { value = null } = demand(await client.send("SetModel", { model: String(args.model) }, session));
    return { session, model: value };
  },
  enter_plan_mode: async ({ client }, args) => {
    const session = sessionOf(args);
    demand(await client.send("EnterPlanMode", {}, session));
    return { session, mode: "plan" };
  },
  exit_plan_mode: async ({ client }, args) => {
    const session = sessionOf(args);
    if (args.approve === true) {
      throw new Refused(failure("Forbidden", { detail: "only a person can approve a plan: 'oxbow resume' shows it." }));
    }
    demand(await client.send("ExitPlanMode", { approve: false }, session));
    return { session, state: "sent back" };
  },
  end_session: async ({ client }, args) => {
    const session = sessionOf(args);
    demand(await client.send("EndSession", {}, session));
    return { session, state: "ended" };
  },
};

function whoAnswers(session: SessionId): string {
  return (
    "an agent cannot answer questions about its own calls, or about those of another agent. A person has to: 'oxbow resume " +
    `${session}' shows the question. Without an answer the call is denied after a while, and the turn continues.`
  );
}

function demand(reply: CommandReply): Extract<CommandReply, { ok: true }> {
  if (!reply.ok) throw new Refused(reply.failure);
  return reply;
}

function sessionOf({ session }: JsonObject): SessionId {
  if (typeof session !== "string" || !isId("sess", session)) {
    throw new Refused(failure("SessionNotFound", { session: typeof session === "string" ? session : "(none given)" }));
  }
  return session;
}

function absolute(cwd: string): string {
  if (isAbsolute(cwd)) return cwd;
  throw new Refused(failure("InvalidInput", { detail: '"cwd" must be an absolute path.' }));
}

async function create(place: ToolPlace, { cwd: named, model, resume }: JsonObject): Promise<SessionId> {
  const { client, onSession } = place;
  const cwd = named ?? (resume === undefined ? place.cwd : undefined);
  const reply = await client.send("CreateSession", {
    ...(typeof cwd === "string" && { cwd: absolute(cwd) }),
    ...(typeof model === "string" && { model }),
    ...(typeof resume === "string" && { resume: sessionOf({ session: resume }) }),
  });
  const { session } = demand(reply);
  if (session === undefined) throw new Error("Oxbow could not open the session");
  onSession(session);
  return session;
}

async function attach({ client }: ToolPlace, args: JsonObject): Promise<SessionId> {
  const session = sessionOf(args);
  demand(await client.send("AttachSession", {}, session));
  return session;
}

async function describe({ client }: ToolPlace, session: SessionId): Promise<JsonObject> {
  const reply = await client.query("GetStatus", {}, session);
  if (!reply.ok) throw new Refused(reply.failure);
  const { provider, model, busy, waiting, messages, last_event, place } = reply.answer;
  return {
    ...{ session, model: `${provider}:${model}`, busy, waiting, messages, last_event },
    ...(place !== undefined && { cwd: place.cwd, mode: place.mode }),
    events: `oxbow://session/${session}/events`,
  };
}

interface Input {
  readonly text: string;
  readonly skill?: JsonValue | undefined;
  readonly queue?: boolean;
}

async function send(
  { client }: ToolPlace,
  session: SessionId,
  { text: words, skill, queue }: Input,
): Promise<JsonObject> {
  if (typeof skill === "string") {
    const { value } = demand(await client.send("CustomCommand", slashRequest(`skills:${skill}`, words), session));
    if (readSlashAnswer(value).isTurn) return { session, state: "started" };
    throw new Refused(failure("InvalidInput", { detail: `The skill ${skill} started no turn.` }));
  }
  const payload = { content: [text(words)], ...(queue && { queue }) };
  const { value } = demand(await client.send("SendInput", payload, session));
  return { session, ...(isJsonObject(value) ? value : {}) };
}

interface Run {
  readonly session: SessionId;
  readonly input: Input;
  readonly args: JsonObject;
  readonly request: ToolRequest;
}

/** A caller that stops waiting by cancelling its request also stops the turn that it started. */
async function runTurn(place: ToolPlace, { session, input, args, request }: Run): Promise<JsonObject> {
  const { client, clock } = place;
  const watch = watchTurn({
    client,
    session,
    clock,
    turn: "own",
    waitMs: waitOf(args, request),
    onProgress: request.onProgress,
    onQuestion: (summary) => place.onQuestion(session, summary),
  });
  const cancel = () => {
    void client.send("CancelTurn", {}, session);
    watch.stop();
  };
  try {
    await send(place, session, input);
  } catch (error) {
    watch.stop();
    throw error;
  }
  if (request.signal.aborted) cancel();
  request.signal.addEventListener("abort", cancel);
  try {
    return await watch.result;
  } finally {
    request.signal.removeEventListener("abort", cancel);
  }
}

async function waitForRunning(place: ToolPlace, { session, args, request }: Omit<Run, "input">): Promise<JsonObject> {
  const { client, clock } = place;
  const status = client.query("GetStatus", {}, session);
  const earlier = status.then(async (reply) => {
    const last = reply.ok ? reply.answer.last_event : 0;
    return { events: reply.ok && reply.answer.busy ? await turnSoFar(client, session, last) : [], last };
  });
  const watch = watchTurn({
    ...{ client, session, clock, earlier, turn: "running" },
    waitMs: waitOf(args, request),
    onProgress: request.onProgress,
  });
  const reply = await status;
  if (!reply.ok || !(reply.answer.busy || reply.answer.waiting > 0)) {
    watch.stop();
    if (!reply.ok) throw new Refused(reply.failure);
    return { ...(await watch.result), state: "idle" };
  }
  request.signal.addEventListener("abort", () => watch.stop());
  return watch.result;
}

const PAGE = 1000;

/** The events of the turn that runs, up to an id: the cost and tools of the answer are those of the whole turn. */
async function turnSoFar(client: EngineClient, session: SessionId, last: number): Promise<readonly Envelope[]> {
  let events: readonly Envelope[] = [];
  for (let before = last + 1; before > 1; before = events[0]?.id ?? 1) {
    const reply = await client.query("ListEvents", { before, limit: Math.min(PAGE, before - 1) }, session);
    if (!reply.ok) return events;
    events = [...reply.answer.events, ...events];
    const start = reply.answer.events.findLastIndex(({ kind }) => kind === "TurnStarted");
    if (start >= 0) return events.slice(start);
  }
  return events;
}

/** A client without progress gives up after a minute: it gets an answer before, and waits again. */
const PATIENCE_MS = 50_000;

function waitOf({ wait_seconds: seconds }: JsonObject, { onProgress }: ToolRequest): number | undefined {
  if (typeof seconds === "number") return seconds * 1000;
  return onProgress === undefined ? PATIENCE_MS : undefined;
}
