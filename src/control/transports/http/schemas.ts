/** JSON Schemas of what the HTTP surface takes and gives. Those of commands and queries come from the door, which checks them. */
import { COMMAND_KINDS } from "../../../protocol/commands.js";
import { FAILURE_REASONS } from "../../../protocol/errors.js";
import { EVENT_KINDS } from "../../../protocol/event-fields.js";
import type { JsonObject } from "../../../protocol/json.js";
import { QUERY_KINDS } from "../../../protocol/query-kinds.js";

export const TEXT = { type: "string" } as const;
const NUMBER = { type: "number" } as const;
export const WHOLE = { type: "integer", minimum: 0 } as const;
export const YES_NO = { type: "boolean" } as const;
export const ANYTHING: JsonObject = {};
export const SESSION_ID = { type: "string", pattern: "^sess_[0-9A-HJKMNP-TV-Z]{26}$" } as const;
const CLIENT_ID = { type: "string", pattern: "^cli_" } as const;
const TIME = { type: "string", format: "date-time" } as const;

export function shape(
  required: Readonly<Record<string, JsonObject>>,
  optional: Readonly<Record<string, JsonObject>> = {},
) {
  return { type: "object", properties: { ...required, ...optional }, required: Object.keys(required) } as const;
}

export function listOf(items: JsonObject): JsonObject {
  return { type: "array", items };
}

export function refer(name: keyof typeof SCHEMAS): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

const USAGE = shape({ input: WHOLE, output: WHOLE, cache_read: WHOLE, cache_write: WHOLE, reasoning: WHOLE });
const COST = shape({ usd: NUMBER, input: NUMBER, output: NUMBER, cache_read: NUMBER, cache_write: NUMBER });
const FAILURE = shape(
  { reason: { ...TEXT, examples: [...FAILURE_REASONS] }, message: TEXT },
  {
    retryable: YES_NO,
    status: WHOLE,
    retry_after_ms: NUMBER,
    attempts: WHOLE,
    originator: CLIENT_ID,
    decided_by: TEXT,
  },
);

/** The shared schemas of the OpenAPI document. */
export const SCHEMAS = {
  Failure: FAILURE,
  Error: shape({ error: { $ref: "#/components/schemas/Failure" } }),
  Event: shape({
    id: WHOLE,
    kind: { enum: [...EVENT_KINDS] },
    session: SESSION_ID,
    originator: CLIENT_ID,
    ts: TIME,
    payload: { type: "object" },
  }),
  Handshake: shape(
    {
      protocol_version: TEXT,
      canonical_form_version: WHOLE,
      schema_version_token_claim: WHOLE,
      schema_version_profile: WHOLE,
      schema_version_session_log: WHOLE,
      command_kinds: listOf({ enum: [...COMMAND_KINDS] }),
      query_kinds: listOf({ enum: [...QUERY_KINDS] }),
      event_kinds: listOf({ enum: [...EVENT_KINDS] }),
      features: listOf(TEXT),
      resource_uri_scheme: TEXT,
      deprecated: listOf({ type: "object" }),
    },
    { client: CLIENT_ID },
  ),
  Session: shape(
    {
      id: SESSION_ID,
      cwd: TEXT,
      provider: TEXT,
      model: TEXT,
      created_at: TIME,
      active_at: TIME,
      last_event: WHOLE,
      pinned: YES_NO,
      live: YES_NO,
    },
    {
      title: TEXT,
      ended: { enum: ["idle", "user", "paused", "error", "binary-shutdown"] },
      branch_of: SESSION_ID,
      busy: { const: true },
      questions: WHOLE,
    },
  ),
  Turn: shape(
    {
      session: SESSION_ID,
      turn: TEXT,
      outcome: { enum: ["answered", "limit", "denied", "stopped", "cancelled", "failed"] },
      text: TEXT,
      iterations: WHOLE,
      usage: USAGE,
    },
    { cost: COST, by_model: listOf({ type: "object" }), truncated: { const: true }, failure: FAILURE },
  ),
  CommandReply: {
    oneOf: [
      shape({ ok: { const: true } }, { session: SESSION_ID, value: ANYTHING }),
      shape({ ok: { const: false }, failure: FAILURE }),
    ],
  },
  QueryReply: {
    oneOf: [
      shape({ ok: { const: true }, answer: { type: "object" } }),
      shape({ ok: { const: false }, failure: FAILURE }),
    ],
  },
  Token: shape(
    {
      jti: TEXT,
      identity_class: { enum: ["human", "agent"] },
      exp: WHOLE,
      nbf: WHOLE,
      can_mint: YES_NO,
      issued_at: TIME,
    },
    { sessions: listOf(SESSION_ID), commands: listOf(TEXT), display_name: TEXT, revoked_at: TIME },
  ),
  NewToken: shape({ token: TEXT, claims: { type: "object" } }),
  WebAddress: shape({ address: TEXT, url: TEXT, expires_at: TIME }, { fingerprint: TEXT }),
  Confirmation: shape({
    request: TEXT,
    channel: { enum: ["client", "tty", "notify"] },
    where: TEXT,
    expires_at: TIME,
  }),
} satisfies Record<string, JsonObject>;
