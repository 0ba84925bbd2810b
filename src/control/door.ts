/**
 * Checks commands and queries before they are used. Types do not guarantee what a transport delivers.
 *
 * 1. A command or query passes when its kind is known and its payload fits the schema. Fields that the schema does not name are allowed,
 *    so that a newer client can talk to this engine; `knownPart` leaves them out, so that none of them reaches a run or the log.
 * 2. Every text and every list has a limit, so that no input takes long to check or to use.
 * 3. It never throws.
 */
import { groupDigits } from "../base/group-digits.js";
import { schemaProblems } from "../base/json-schema.js";
import type { CommandKind } from "../protocol/commands.js";
import { type Failure, failure } from "../protocol/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/json.js";
import { COST_WAYS, type QueryKind } from "../protocol/queries.js";

type Fields = Readonly<Record<string, JsonObject>>;

/** Longer than any name of a model, a call, a skill or a namespace. */
const MOST_NAME = 256;
const MOST_PATH = 4096;
/** Of an input. What is done with a text takes time in proportion to its length, and other clients wait for it. */
export const MOST_TEXT = 256 * 1024;
/** In a process that only runs a prompt no other client waits. A model reads less. */
export const MOST_PROMPT = 4 * 1024 * 1024;
/** The summary of another conversation. */
const MOST_CARRIED = 256 * 1024;
const MOST_BLOCKS = 1000;

const NAME = { type: "string", minLength: 1, maxLength: MOST_NAME } as const;
const PATH = { type: "string", minLength: 1, maxLength: MOST_PATH } as const;
const LINE = { type: "string", maxLength: 64 * 1024 } as const;
const TEXT = { type: "string", maxLength: MOST_PROMPT } as const;
const CARRIED = { type: "string", maxLength: MOST_CARRIED } as const;
const BOOLEAN = { type: "boolean" } as const;
const COUNT = { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;
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

/** Once it is in the conversation, a provider would refuse every later request because of an image or audio that is not base64. */
const IMAGE = object({
  type: { const: "image" },
  media_type: { type: "string", pattern: "^image/[a-z0-9.+-]+$" },
  data: { type: "string", pattern: "^[A-Za-z0-9+/]+={0,2}$" },
});

const AUDIO = object({
  type: { const: "audio" },
  media_type: { type: "string", pattern: "^audio/[a-z0-9.+-]+$" },
  data: { type: "string", pattern: "^[A-Za-z0-9+/]+={0,2}$" },
});

const CONTENT: JsonObject = {
  description: `The texts have at most ${MOST_TEXT} characters together.`,
  type: "array",
  maxItems: MOST_BLOCKS,
  items: {
    anyOf: [object({ type: { const: "text" }, text: TEXT }), IMAGE, AUDIO],
  },
};

const LINES: JsonObject = { type: "object", additionalProperties: LINE };
const MCP_SERVER = object(
  { name: NAME },
  {
    ...{ command: PATH, args: { type: "array", maxItems: MOST_BLOCKS, items: LINE }, env: LINES },
    ...{ type: oneOf("http", "sse"), url: PATH, headers: LINES },
  },
);

export const COMMAND_SCHEMAS: Readonly<Record<CommandKind, JsonObject>> = {
  SendInput: object({ content: CONTENT }, { queue: BOOLEAN, steer: BOOLEAN }),
  TakeBackInput: NOTHING,
  CancelTurn: NOTHING,
  AnswerPermission: object(
    { call: NAME, decision: oneOf("allow_once", "allow_pattern", "allow_tool", "deny") },
    { message: LINE },
  ),
  CreateSession: object(
    {},
    {
      cwd: PATH,
      profile: PATH,
      model: NAME,
      resume: NAME,
      after: NAME,
      until: COUNT,
      carry: CARRIED,
      mcp_servers: { type: "array", maxItems: MOST_BLOCKS, items: MCP_SERVER },
      start: object(
        { environment: LINES },
        {
          umask: { type: "integer", minimum: 0, maximum: 0o777 },
          flags: { type: "array", maxItems: MOST_BLOCKS, items: LINE },
          keys: {
            type: "array",
            maxItems: MOST_BLOCKS,
            items: object({ provider: NAME, account: NAME, base_url: PATH }),
          },
          withheld: { type: "array", maxItems: MOST_BLOCKS, items: LINE },
          anew: BOOLEAN,
        },
      ),
      orphans: object({ verdict: oneOf("failed", "succeeded", "abort") }, { note: LINE }),
    },
  ),
  AttachSession: object({}, { after: COUNT, after_ts: NAME }),
  DetachSession: NOTHING,
  EndSession: NOTHING,
  SetModel: object({ model: NAME }),
  SetMode: object({ mode: oneOf("ask", "auto", "review", "allow", "deny", "plan") }),
  EnterPlanMode: NOTHING,
  ExitPlanMode: object({ approve: BOOLEAN }, { mode: oneOf("ask", "auto", "review", "allow", "deny") }),
  ApproveContent: object(
    {
      decisions: {
        type: "array",
        maxItems: 10_000,
        items: object({ id: PATH, sha256: NAME, decision: oneOf("approved", "refused") }),
      },
    },
    { run_programs: { const: true } },
  ),
  CustomCommand: object({ namespace: NAME, verb: { type: "string", maxLength: MOST_NAME }, payload: {} }),
};

export const QUERY_SCHEMAS: Readonly<Record<QueryKind, JsonObject>> = {
  ListSessions: object(
    {},
    { cwd: PATH, limit: { type: "integer", minimum: 1 }, empty: { const: true }, subagents: { const: true } },
  ),
  ListModels: NOTHING,
  ListCommands: NOTHING,
  ListClients: NOTHING,
  ListProfiles: NOTHING,
  ListProviders: NOTHING,
  ListSkills: NOTHING,
  GetSkill: object({ name: NAME }),
  ListSettings: NOTHING,
  ListMcpServers: NOTHING,
  GetHealth: NOTHING,
  ListTools: NOTHING,
  GetPermissions: NOTHING,
  ListQuestions: NOTHING,
  GetStatus: NOTHING,
  FindFiles: object(
    { query: { type: "string", maxLength: MOST_PATH } },
    { limit: { type: "integer", minimum: 1, maximum: 1000 } },
  ),
  ListEvents: object({ before: { ...COUNT, minimum: 1 } }, { limit: { type: "integer", minimum: 1, maximum: 10_000 } }),
  ListTurns: NOTHING,
  GetChanges: object({}, { since: COUNT, until: COUNT }),
  CompareSessions: object({ others: { type: "array", minItems: 1, maxItems: 3, items: NAME } }),
  GetCosts: object({}, { by: oneOf(...COST_WAYS), since: NAME }),
  ListMcpTraffic: object({ server: NAME }),
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

type Schemas = Readonly<Record<string, JsonObject>>;

interface Limits {
  /** Default: `MOST_TEXT`. */
  readonly mostText?: number | undefined;
}

/** Tells why it is refused; undefined if it is accepted. */
export function refusalOf(arrival: Arrival, schemas: Schemas, limits: Limits = {}): Failure | undefined {
  const problem = problemOf(arrival, schemas, limits);
  return problem === undefined ? undefined : failure("InvalidInput", { detail: problem });
}

function problemOf({ kind, payload, session }: Arrival, schemas: Schemas, { mostText = MOST_TEXT }: Limits) {
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
  if (kind === "SendInput" && textLength(payload) > mostText) {
    return `An input has at most ${groupDigits(mostText)} characters. Save the text in a file and name the file, so that the model reads what it needs.`;
  }
  for (const field of SESSION_FIELDS[kind] ?? []) {
    const value = isJsonObject(payload) ? payload[field] : undefined;
    if (value !== undefined && !isSessionId(value)) return `${kind}: "${field}" must be the id of a session (sess_…).`;
  }
  return undefined;
}

/** Of all blocks together. The payload fits the schema. */
function textLength(payload: unknown): number {
  const { content } = payload as { readonly content: readonly { readonly text?: string }[] };
  return content.reduce((sum, { text = "" }) => sum + text.length, 0);
}

function isSessionId(value: unknown): boolean {
  return (
    typeof value === "string" && value.startsWith("sess_") && value.length > "sess_".length && value.length <= MOST_NAME
  );
}
