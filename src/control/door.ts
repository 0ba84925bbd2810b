/**
 * Checks commands and queries before they are used. Types do not guarantee what a transport delivers.
 *
 * 1. A command or query passes when its kind is known and its payload fits the schema. Fields that the schema does not name are allowed,
 *    so that a newer client can talk to this engine; `knownPart` leaves them out, so that none of them reaches a run or the log.
 * 2. It never throws.
 */
import { schemaProblems } from "../base/json-schema.js";
import type { CommandKind } from "../protocol/commands.js";
import { type Failure, failure } from "../protocol/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.js";
import type { QueryKind } from "../protocol/queries.js";

type Fields = Readonly<Record<string, JsonObject>>;

const STRING = { type: "string" } as const;
const NAME = { type: "string", minLength: 1 } as const;
const BOOLEAN = { type: "boolean" } as const;
const COUNT = { type: "integer", minimum: 0 } as const;
const NOTHING = object({});

function object(required: Fields, optional: Fields = {}): JsonObject {
  return {
    type: "object",
    properties: { ...required, ...optional },
    required: Object.keys(required),
  };
}

function oneOf(...values: readonly string[]): JsonObject {
  return { enum: values };
}

/** Once it is in the conversation, a provider would refuse every later request because of an image that is not base64. */
const IMAGE = object({
  type: { const: "image" },
  media_type: { type: "string", pattern: "^image/[a-z0-9.+-]+$" },
  data: { type: "string", pattern: "^[A-Za-z0-9+/]+={0,2}$" },
});

const CONTENT: JsonObject = {
  type: "array",
  items: {
    anyOf: [object({ type: { const: "text" }, text: STRING }), IMAGE],
  },
};

const TEXTS: JsonObject = { type: "object", additionalProperties: STRING };
const MCP_SERVER = object(
  { name: NAME },
  {
    ...{ command: NAME, args: { type: "array", items: STRING }, env: TEXTS },
    ...{ type: oneOf("http", "sse"), url: NAME, headers: TEXTS },
  },
);

export const COMMAND_SCHEMAS: Readonly<Record<CommandKind, JsonObject>> = {
  SendInput: object({ content: CONTENT }, { queue: BOOLEAN, steer: BOOLEAN }),
  TakeBackInput: NOTHING,
  CancelTurn: NOTHING,
  AnswerPermission: object(
    { call: NAME, decision: oneOf("allow_once", "allow_pattern", "allow_tool", "deny") },
    { message: STRING },
  ),
  CreateSession: object(
    {},
    {
      cwd: NAME,
      profile: NAME,
      model: NAME,
      resume: NAME,
      after: NAME,
      until: COUNT,
      carry: STRING,
      mcp_servers: { type: "array", items: MCP_SERVER },
      orphans: object({ verdict: oneOf("failed", "succeeded", "abort") }, { note: STRING }),
    },
  ),
  AttachSession: object({}, { after: COUNT, after_ts: NAME }),
  DetachSession: NOTHING,
  EndSession: NOTHING,
  SetModel: object({ model: NAME }),
  SetMode: object({ mode: oneOf("ask", "auto", "allow", "deny", "plan") }),
  EnterPlanMode: NOTHING,
  ExitPlanMode: object({ approve: BOOLEAN }),
  ApproveContent: object({
    decisions: {
      type: "array",
      items: object({ id: NAME, sha256: NAME, decision: oneOf("approved", "refused") }),
    },
  }),
  CustomCommand: object({ namespace: NAME, verb: STRING, payload: {} }),
};

export const QUERY_SCHEMAS: Readonly<Record<QueryKind, JsonObject>> = {
  ListSessions: object(
    {},
    { cwd: NAME, limit: { type: "integer", minimum: 1 }, empty: { const: true }, subagents: { const: true } },
  ),
  ListModels: NOTHING,
  ListCommands: NOTHING,
  ListClients: NOTHING,
  ListProfiles: NOTHING,
  ListProviders: NOTHING,
  ListSkills: NOTHING,
  GetSkill: object({ name: NAME }),
  ListMcpServers: NOTHING,
  GetHealth: NOTHING,
  ListTools: NOTHING,
  GetPermissions: NOTHING,
  ListQuestions: NOTHING,
  GetStatus: NOTHING,
  FindFiles: object({ query: STRING }, { limit: { type: "integer", minimum: 1, maximum: 1000 } }),
  ListEvents: object(
    { before: { type: "integer", minimum: 1 } },
    { limit: { type: "integer", minimum: 1, maximum: 10_000 } },
  ),
  ListExtensions: NOTHING,
  ListWaitingContent: object({}, { diffs: { const: true } }),
};

/** The payload without what the schema does not name. It fits the schema. */
export function knownPart(schema: JsonValue | undefined, value: unknown): unknown {
  if (!isJsonObject(schema)) return value;
  if (Array.isArray(schema.anyOf)) {
    const fitting = schema.anyOf.find((option) => schemaProblems(option, value as JsonValue).length === 0);
    return knownPart(fitting, value);
  }
  if (Array.isArray(value))
    return schema.items === undefined ? value : value.map((item) => knownPart(schema.items, item));
  if (!isJsonObject(schema.properties) || !isJsonObject(value)) return value;
  const known: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(schema.properties)) {
    if (Object.hasOwn(value, name) && value[name] !== undefined) known[name] = knownPart(inner, value[name]);
  }
  return known;
}

/** Session ids that a payload names; the schema only says that they are text. */
const SESSION_FIELDS: Readonly<Record<string, readonly string[]>> = { CreateSession: ["resume", "after"] };

export interface Arrival {
  readonly kind: unknown;
  readonly payload: unknown;
  readonly session?: unknown;
}

/** Why it is refused; undefined if it is accepted. */
export function refusalOf(arrival: Arrival, schemas: Readonly<Record<string, JsonObject>>): Failure | undefined {
  const problem = problemOf(arrival, schemas);
  return problem === undefined ? undefined : failure("InvalidInput", { detail: problem });
}

function problemOf({ kind, payload, session }: Arrival, schemas: Readonly<Record<string, JsonObject>>) {
  if (typeof kind !== "string" || !Object.hasOwn(schemas, kind)) {
    return `"kind" must be one of ${Object.keys(schemas).join(", ")}.`;
  }
  if (session !== undefined && !isSessionId(session)) return `${kind}: "session" must be the id of a session (sess_…).`;
  try {
    const [problem] = schemaProblems(schemas[kind], payload as JsonValue);
    if (problem !== undefined) return `${kind}: ${problem.replace(/^the arguments/, "the payload")}.`;
  } catch {
    return `${kind}: the payload is not valid JSON.`;
  }
  for (const field of SESSION_FIELDS[kind] ?? []) {
    const value = isJsonObject(payload) ? payload[field] : undefined;
    if (value !== undefined && !isSessionId(value)) return `${kind}: "${field}" must be the id of a session (sess_…).`;
  }
  return undefined;
}

function isSessionId(value: unknown): boolean {
  return typeof value === "string" && value.startsWith("sess_") && value.length > "sess_".length;
}
