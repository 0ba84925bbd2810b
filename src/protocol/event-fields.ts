/**
 * Declares every field of every event once: what a file may hold there, and what becomes of it in a log. Expiry, redaction and import
 * read these rows. A kind or a field without a row does not compile.
 */
import type { OldCost } from "./answer-ends.js";
import { type EventKind, type EventPayloads, TOOL_KINDS } from "./events.js";
import type { JsonObject } from "./json.js";

/**
 * Describes what a field holds.
 *
 * | | before it is stored | after it has expired |
 * |---|---|---|
 * | `name`: ids, names, fixed words, numbers | unchanged | unchanged |
 * | `label`: words about the event, not from people, models, files or commands | secrets hidden | unchanged |
 * | `words`: text | secrets hidden | the marker |
 * | `blocks`: content of a message | secrets in its texts hidden | one text: the marker |
 * | `inputs`: a list of such contents | the same | the same for each |
 * | `object`: any object | secrets hidden | empty |
 * | `value`: any JSON | secrets hidden | the marker |
 * | `extra`: any JSON of an optional field | secrets hidden | absent |
 * | `shape`: the blocks of an answer | secrets in quoted arguments hidden | absent |
 * | `opaque`: what a provider expects back unchanged | unchanged | absent |
 * | `failure`: an object with the fields of `FAILURE_FIELDS` | by its fields | by its fields |
 */
export type Holds =
  | "name"
  | "label"
  | "words"
  | "blocks"
  | "inputs"
  | "object"
  | "value"
  | "extra"
  | "shape"
  | "opaque"
  | "failure";

export interface EventField {
  readonly holds: Holds;
  readonly schema: JsonObject;
  readonly optional: boolean;
  /** The id that it holds: a copy of the session gets another one. */
  readonly id?: "turn" | "call";
}

interface Required extends EventField {
  readonly optional: false;
}

interface Optional extends EventField {
  readonly optional: true;
}

function field(holds: Exclude<Holds, "extra" | "shape" | "opaque">, schema: JsonObject): Required {
  return { holds, schema, optional: false };
}

function optional(required: Required): Optional {
  return { ...required, optional: true };
}

/** A field that is absent after its content has expired. */
function passing(holds: "extra" | "shape" | "opaque", schema: JsonObject = {}): Optional {
  return { holds, schema, optional: true };
}

function object(required: JsonObject, more: JsonObject = {}): JsonObject {
  return { type: "object", properties: { ...required, ...more }, required: Object.keys(required) };
}

function oneOf(...values: readonly string[]): Required {
  return field("name", { enum: values });
}

const STRING = { type: "string" } as const;
const NUMBER = { type: "number" } as const;
const COUNT = { type: "integer", minimum: 0 } as const;
const STRINGS = { type: "array", items: STRING } as const;
const USAGE = object({ input: NUMBER, output: NUMBER, cache_read: NUMBER, cache_write: NUMBER, reasoning: NUMBER });
const COST = object({ usd: NUMBER, input: NUMBER, output: NUMBER, cache_read: NUMBER, cache_write: NUMBER });
const MODEL = object({ provider: STRING, model: STRING });
const CONTENT: JsonObject = {
  type: "array",
  items: {
    anyOf: [
      object({ type: { const: "text" }, text: STRING }),
      object({ type: { enum: ["image", "audio"] }, media_type: STRING, data: STRING }),
    ],
  },
};
const BLOCKS: JsonObject = {
  type: "array",
  items: {
    anyOf: [
      object({ type: { enum: ["text", "thinking"] }, deltas: COUNT }),
      object({ type: { const: "tool_use" }, call: STRING }, { malformed: STRING }),
      object({ type: { const: "opaque" }, provider: STRING, data: {} }),
      object({ type: { const: "yield" } }),
    ],
  },
};

const name = field("name", STRING);
const turn: Required = { ...name, id: "turn" };
const call: Required = { ...name, id: "call" };
const number = field("name", NUMBER);
const count = field("name", COUNT);
const yes = optional(field("name", { const: true }));
const label = field("label", STRING);
const words = field("words", STRING);
const blocks = field("blocks", CONTENT);
const anyObject = field("object", { type: "object" });
const usage = field("name", USAGE);
const cost = optional(field("name", COST));
const model = field("name", MODEL);

const modelName = { provider: name, model: name };
const subagent = { call, session: name, type: name };
const nextAttempt = { turn, ...modelName, reason: label, message: words, wait_ms: number, attempt: number };
const status = oneOf("ok", "error", "denied", "cancelled", "timeout", "skipped");
const outcome = oneOf("answered", "limit", "denied", "stopped", "cancelled", "failed");
const toolKind = optional(oneOf(...TOOL_KINDS));
const chosenMode = optional(oneOf("ask", "auto", "review", "allow", "deny"));

const failure = {
  reason: label,
  message: words,
  retryable: optional(field("name", { type: "boolean" })),
  status: optional(number),
  retry_after_ms: optional(number),
  originator: optional(name),
  decided_by: optional(label),
  attempts: optional(number),
};

/** Logs hold costs of an older form too. */
type Logged<K extends EventKind> = K extends "CostIncremented" ? OldCost : EventPayloads[K];
type FieldsOf<P> = { readonly [F in keyof P]-?: Record<never, unknown> extends Pick<P, F> ? Optional : Required };

export const FAILURE_FIELDS: FieldsOf<NonNullable<EventPayloads["TurnEnded"]["failure"]>> = failure;

export const EVENT_FIELDS: { readonly [K in EventKind]: FieldsOf<Logged<K>> } = {
  TurnStarted: {
    turn,
    input: blocks,
    notice: optional(words),
    route: optional(name),
    queued: optional(count),
    variant: optional(name),
    plan: yes,
    mode: chosenMode,
    folders: passing("extra", STRINGS),
  },
  InputQueued: {
    input: blocks,
    delivery: oneOf("queue", "steer"),
    from: name,
    identity: optional(oneOf("human", "agent")),
  },
  InputSteered: { turn, input: blocks, from: name },
  InputDropped: { inputs: field("inputs", { type: "array", items: CONTENT }), by: label },
  ContextAdded: { turn, source: label, text: words },
  TextDelta: { text: words },
  ThinkingDelta: { text: words, provider: optional(name), opaque: passing("opaque") },
  ToolCallStarted: { call, tool: name, tool_kind: toolKind, args: anyObject },
  ToolCallProgress: { call, text: words },
  ToolResult: {
    call,
    tool: name,
    status,
    content: blocks,
    details: passing("extra", { type: "object" }),
    decided_by: optional(label),
  },
  ToolResultChanged: { turn, call, tool: name, status, content: blocks, by: label },
  TurnTiming: { turn, parts: field("name", { type: "object", additionalProperties: NUMBER }) },
  AnswerEnded: {
    turn,
    ...modelName,
    route: optional(name),
    stop: optional(oneOf("end", "tool_calls", "length", "refusal", "pause")),
    calls: passing("extra", COUNT),
    blocks: passing("shape", BLOCKS),
    interrupted: passing("extra", { const: true }),
  },
  CostIncremented: {
    turn: optional(turn),
    ...modelName,
    usage,
    elapsed_ms: number,
    cost,
    route: optional(name),
    abandoned: yes,
    purpose: optional(oneOf("summary", "sampling", "hook", "search", "aside")),
    answer: passing("shape", object({}, { calls: COUNT, blocks: BLOCKS, interrupted: { const: true } })),
  },
  RateLimited: nextAttempt,
  Retrying: nextAttempt,
  AnswerRetracted: { turn, reason: label },
  FailedOver: { turn, route: name, from: model, to: model, reason: label, message: words },
  ModelRouted: { turn, ...modelName, route: name, rule: label },
  Error: { ...failure, turn: optional(turn) },
  Cancelled: { turn, by: label },
  TurnEnded: {
    turn,
    outcome,
    text: words,
    iterations: number,
    usage,
    cost,
    by_model: optional(
      field("name", {
        type: "array",
        items: object({ provider: STRING, model: STRING, calls: NUMBER, usage: USAGE }, { cost: COST }),
      }),
    ),
    truncated: yes,
    plan: yes,
    mode: chosenMode,
    failure: optional(field("failure", object({ reason: STRING, message: STRING }))),
  },
  PermissionRequested: {
    call,
    tool: name,
    tool_kind: toolKind,
    args: anyObject,
    summary: words,
    reason: optional(words),
    offer: passing("extra", STRINGS),
    always: passing("extra", STRINGS),
    once_only: yes,
    contained: yes,
    preview: optional(words),
    form: passing("extra", { type: "array", items: { type: "object" } }),
    timeout_ms: optional(number),
    subagent: optional(field("name", object({ call: STRING, session: STRING, type: STRING }))),
  },
  PermissionResolved: {
    call,
    tool: name,
    decision: oneOf("allow_once", "allow_pattern", "allow_tool", "deny"),
    decided_by: label,
    message: optional(words),
    args: optional(anyObject),
  },
  CompactionTriggered: {
    turn: optional(turn),
    reason: label,
    summary: optional(words),
    kept_from: optional(count),
    tokens: optional(field("name", object({ before: NUMBER, after: NUMBER }))),
  },
  Notice: {
    turn: optional(turn),
    level: oneOf("progress", "warning"),
    message: words,
    offer: yes,
    token: passing("extra", { type: "object" }),
    expiring: passing("extra", { type: "array", items: { type: "object" } }),
  },
  ContextNearlyFull: { turn, model: name, used: number, window: number },
  SubagentStarted: { ...subagent, ...modelName, description: words },
  SubagentProgress: { ...subagent, text: words, elapsed_ms: number, tokens: number },
  SubagentEnded: { ...subagent, outcome, elapsed_ms: number, usage, cost },
  ModeChanged: { mode: oneOf("ask", "auto", "review", "allow", "deny", "plan"), by: name, copied: yes },
  StreamGap: { from: number, to: number, reason: label },
  TokenExpiring: { jti: name, expires_at: name },
  HookTimeout: { event: label, command: words, timeout_ms: number },
  HookError: { event: label, command: words, exit_code: number },
  MCPServerDown: { name: label, reason: words, attempts: number },
  RerunBegan: { of: name, after: number, from: number, recorded: yes },
  SkillRegistryChanged: { added: field("label", STRINGS), removed: field("label", STRINGS) },
  SessionEnded: { reason: oneOf("idle", "user", "paused", "error", "binary-shutdown") },
  SessionContinued: {
    replaced: field("name", { type: "array", items: object({ from: NUMBER, to: NUMBER }) }),
  },
  CustomEvent: { namespace: label, kind: label, payload: field("value", {}) },
};

/** The kinds of events, for the handshake and for everything that lists them. */
export const EVENT_KINDS = Object.keys(EVENT_FIELDS) as readonly EventKind[];

/** The row of a field; undefined for one that no event of this kind has, as a log from elsewhere may hold. */
export function eventField(kind: EventKind, name: string): EventField | undefined {
  return rowOf(EVENT_FIELDS[kind], name);
}

export function failureField(name: string): EventField | undefined {
  return rowOf(FAILURE_FIELDS, name);
}

function rowOf(fields: object, name: string): EventField | undefined {
  return Object.hasOwn(fields, name) ? (fields as Readonly<Record<string, EventField>>)[name] : undefined;
}
