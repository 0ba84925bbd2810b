/** What the payload of an event must look like, for events that come from a file. A field that is not named here may hold anything. */
import { schemaProblems } from "../../base/json-schema.js";
import { EVENT_KINDS } from "../../protocol/event-kinds.js";
import type { EventKind } from "../../protocol/events.js";
import { isId } from "../../protocol/ids.js";
import type { JsonObject } from "../../protocol/json.js";

type Fields = Readonly<Record<string, JsonObject>>;

const STRING = { type: "string" } as const;
const NUMBER = { type: "number" } as const;
const OBJECT = { type: "object" } as const;
const TRUE = { const: true } as const;
const STRINGS = { type: "array", items: STRING } as const;

function object(required: Fields, optional: Fields = {}): JsonObject {
  return { type: "object", properties: { ...required, ...optional }, required: Object.keys(required) };
}

function oneOf(...values: readonly string[]): JsonObject {
  return { enum: values };
}

const USAGE = object({ input: NUMBER, output: NUMBER, cache_read: NUMBER, cache_write: NUMBER, reasoning: NUMBER });
const COST = object({ usd: NUMBER, input: NUMBER, output: NUMBER, cache_read: NUMBER, cache_write: NUMBER });
const SHARE = object({ provider: STRING, model: STRING, calls: NUMBER, usage: USAGE }, { cost: COST });
const FAILURE_FIELDS: Fields = { reason: STRING, message: STRING };
const CONTENT: JsonObject = {
  type: "array",
  items: {
    anyOf: [
      object({ type: { const: "text" }, text: STRING }),
      object({ type: { const: "image" }, media_type: STRING, data: STRING }),
    ],
  },
};
const DELTAS = { type: "integer", minimum: 0 } as const;
const SHAPE: Fields = {
  calls: DELTAS,
  interrupted: TRUE,
  blocks: {
    type: "array",
    items: {
      anyOf: [
        object({ type: oneOf("text", "thinking"), deltas: DELTAS }),
        object({ type: { const: "tool_use" }, call: STRING }, { malformed: STRING }),
        object({ type: { const: "opaque" }, provider: STRING, data: {} }),
        object({ type: { const: "yield" } }),
      ],
    },
  },
};

const NAME = object({ provider: STRING, model: STRING });
const NEXT_ATTEMPT = object({
  turn: STRING,
  provider: STRING,
  model: STRING,
  reason: STRING,
  message: STRING,
  wait_ms: NUMBER,
  attempt: NUMBER,
});

const OUTCOME = oneOf("answered", "limit", "denied", "stopped", "cancelled", "failed");
const CHOSEN_MODE = oneOf("ask", "auto", "allow", "deny");
const SUBAGENT: Fields = { call: STRING, session: STRING, type: STRING };

const SHAPES: Readonly<Record<EventKind, JsonObject>> = {
  TurnStarted: object(
    { turn: STRING, input: CONTENT },
    { notice: STRING, route: STRING, queued: DELTAS, plan: TRUE, mode: CHOSEN_MODE },
  ),
  InputQueued: object(
    { input: CONTENT, delivery: oneOf("queue", "steer"), from: STRING },
    { identity: oneOf("human", "agent") },
  ),
  InputSteered: object({ turn: STRING, input: CONTENT, from: STRING }),
  InputDropped: object({ inputs: { type: "array", items: CONTENT }, by: STRING }),
  ContextAdded: object({ turn: STRING, source: STRING, text: STRING }),
  TextDelta: object({ text: STRING }),
  ThinkingDelta: object({ text: STRING }, { provider: STRING }),
  ToolCallStarted: object({ call: STRING, tool: STRING, args: OBJECT }),
  ToolCallProgress: object({ call: STRING, text: STRING }),
  ToolResult: object(
    {
      call: STRING,
      tool: STRING,
      status: oneOf("ok", "error", "denied", "cancelled", "timeout", "skipped"),
      content: CONTENT,
    },
    { details: OBJECT, decided_by: STRING },
  ),
  ToolResultChanged: object({
    ...{ turn: STRING, call: STRING, tool: STRING, by: STRING, content: CONTENT },
    status: oneOf("ok", "error", "denied", "cancelled", "timeout", "skipped"),
  }),
  TurnTiming: object({ turn: STRING, parts: OBJECT }),
  AnswerEnded: object(
    { turn: STRING, provider: STRING, model: STRING },
    { route: STRING, stop: oneOf("end", "tool_calls", "length", "refusal", "pause"), ...SHAPE },
  ),
  // `answer`: the shape that older logs have here.
  CostIncremented: object(
    { provider: STRING, model: STRING, usage: USAGE, elapsed_ms: NUMBER },
    {
      turn: STRING,
      answer: object({}, SHAPE),
      cost: COST,
      route: STRING,
      abandoned: TRUE,
      purpose: oneOf("summary", "sampling", "hook"),
    },
  ),
  SubagentStarted: object({ ...SUBAGENT, provider: STRING, model: STRING, description: STRING }),
  SubagentProgress: object({ ...SUBAGENT, text: STRING, elapsed_ms: NUMBER, tokens: NUMBER }),
  SubagentEnded: object({ ...SUBAGENT, outcome: OUTCOME, elapsed_ms: NUMBER, usage: USAGE }, { cost: COST }),
  ModeChanged: object({ mode: oneOf("ask", "auto", "allow", "deny", "plan"), by: STRING }, { copied: TRUE }),
  ContextNearlyFull: object({ turn: STRING, model: STRING, used: NUMBER, window: NUMBER }),
  RateLimited: NEXT_ATTEMPT,
  Retrying: NEXT_ATTEMPT,
  AnswerRetracted: object({ turn: STRING, reason: STRING }),
  FailedOver: object({ turn: STRING, route: STRING, from: NAME, to: NAME, reason: STRING, message: STRING }),
  Error: object(FAILURE_FIELDS, { turn: STRING }),
  Cancelled: object({ turn: STRING, by: STRING }),
  TurnEnded: object(
    {
      turn: STRING,
      outcome: OUTCOME,
      text: STRING,
      iterations: NUMBER,
      usage: USAGE,
    },
    {
      truncated: TRUE,
      plan: TRUE,
      mode: CHOSEN_MODE,
      failure: object(FAILURE_FIELDS),
      cost: COST,
      by_model: { type: "array", items: SHARE },
    },
  ),
  PermissionRequested: object({ call: STRING, tool: STRING, args: OBJECT, summary: STRING }),
  PermissionResolved: object(
    {
      call: STRING,
      tool: STRING,
      decision: oneOf("allow_once", "allow_pattern", "allow_tool", "deny"),
      decided_by: STRING,
    },
    { message: STRING },
  ),
  CompactionTriggered: object(
    { reason: STRING },
    { turn: STRING, summary: STRING, kept_from: DELTAS, tokens: object({ before: NUMBER, after: NUMBER }) },
  ),
  Notice: object({ level: oneOf("progress", "warning"), message: STRING }, { turn: STRING }),
  StreamGap: object({ from: NUMBER, to: NUMBER, reason: STRING }),
  TokenExpiring: object({ jti: STRING, expires_at: STRING }),
  HookTimeout: object({ event: STRING, command: STRING, timeout_ms: NUMBER }),
  HookError: object({ event: STRING, command: STRING, exit_code: NUMBER }),
  MCPServerDown: object({ name: STRING, reason: STRING, attempts: NUMBER }),
  SkillRegistryChanged: object({ added: STRINGS, removed: STRINGS }),
  SessionEnded: object({ reason: oneOf("idle", "user", "error", "binary-shutdown") }),
  SessionContinued: object({ replaced: { type: "array", items: object({ from: NUMBER, to: NUMBER }) } }),
  CustomEvent: object({ namespace: STRING, kind: STRING, payload: {} }),
};

export function isEventKind(kind: unknown): kind is EventKind {
  return EVENT_KINDS.some((known) => known === kind);
}

/** The first thing that is wrong with it, or undefined. */
export function payloadProblem(kind: EventKind, payload: JsonObject): string | undefined {
  return schemaProblems(SHAPES[kind], payload)[0];
}

export function isClientId(value: unknown): value is `cli_${string}` {
  return typeof value === "string" && isId("cli", value);
}
