/**
 * Describes how a client and an engine meet, before any other message.
 *
 * 1. The version is SemVer. A minor version only adds: an older client works with a newer engine, and a newer client with an older engine
 *    as far as it uses only the kinds and features that the engine names. Another major version is refused.
 * 2. A feature that `features` does not name is not there.
 * 3. A kind or feature that will go is in `deprecated` for at least one minor version before.
 */
import type { Identity } from "./client.js";
import { COMMAND_KINDS } from "./commands.js";
import { type Failure, failure } from "./errors.js";
import { EVENT_KINDS } from "./event-fields.js";
import type { ClientId } from "./ids.js";
import { QUERY_KINDS } from "./query-kinds.js";

export const PROTOCOL_VERSION = "0.2.0";
/** Version of the canonical message form in `content.ts`. */
export const CANONICAL_FORM_VERSION = 1;
export const TOKEN_CLAIM_VERSION = 1;
export const PROFILE_VERSION = 1;
export const SESSION_LOG_VERSION = 1;
/** Of the resources of the MCP server. The name of a scheme has no slash, so the version is `protocol_version`. */
export const RESOURCE_URI_SCHEME = "oxbow";

export interface Handshake {
  readonly protocol_version: string;
  readonly canonical_form_version: number;
  readonly schema_version_token_claim: number;
  readonly schema_version_profile: number;
  readonly schema_version_session_log: number;
  readonly command_kinds: readonly string[];
  readonly query_kinds: readonly string[];
  readonly event_kinds: readonly string[];
  readonly features: readonly string[];
  readonly resource_uri_scheme: string;
  readonly deprecated: readonly Deprecation[];
  /** The id that the engine gave this client. */
  readonly client?: ClientId;
  /** The identity that the engine gives the client; its token decides. */
  readonly identity?: Identity;
}

export interface Deprecation {
  /** `command`, `query`, `event`, `feature` or `field`. */
  readonly what: string;
  readonly name: string;
  /** The protocol version that said so. */
  readonly since: string;
  /** The first version that may lack it. */
  readonly removed_in: string;
  /** Names what to use instead. */
  readonly instead?: string;
}

/** The first message of a client. */
export interface ClientHello {
  readonly protocol_version?: string;
  /**
   * `can_answer` false: there is no person at this client who could answer a question. `identity`: it works for an agent, also with a
   * person's token. It cannot be taken back.
   */
  readonly client?: { readonly name?: string; readonly can_answer?: boolean; readonly identity?: "agent" };
}

export type HandshakeReply =
  | { readonly ok: true; readonly handshake: Handshake }
  | { readonly ok: false; readonly failure: Failure };

/** The features of every engine of this version; transports and options add theirs. */
export const FEATURES: readonly string[] = [
  "plan_mode",
  "branching",
  "delegate",
  "auto_approve",
  "queue",
  "steer",
  "end_session",
  "stored_attach",
  "stream_gap",
  "resume_time",
  "look_back",
];

export const DEPRECATED: readonly Deprecation[] = [];

export function handshake(
  features: readonly string[],
  client?: { readonly id: ClientId; readonly identity: Identity },
): Handshake {
  return {
    protocol_version: PROTOCOL_VERSION,
    canonical_form_version: CANONICAL_FORM_VERSION,
    schema_version_token_claim: TOKEN_CLAIM_VERSION,
    schema_version_profile: PROFILE_VERSION,
    schema_version_session_log: SESSION_LOG_VERSION,
    command_kinds: COMMAND_KINDS,
    query_kinds: QUERY_KINDS,
    event_kinds: EVENT_KINDS,
    features,
    resource_uri_scheme: RESOURCE_URI_SCHEME,
    deprecated: DEPRECATED,
    ...(client !== undefined && { client: client.id, identity: client.identity }),
  };
}

const SEMVER = /^(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;

/** Tells why the two sides cannot talk; undefined if they can. Without a version the client accepts what the engine says. */
export function versionProblem(client: unknown, server: string = PROTOCOL_VERSION): Failure | undefined {
  if (client === undefined) return undefined;
  const theirs = typeof client === "string" ? majorOf(client) : undefined;
  if (theirs === undefined) {
    const detail = `"protocol_version" must be a version such as ${PROTOCOL_VERSION}.`;
    return failure("InvalidInput", { detail });
  }
  const ours = majorOf(server) ?? 0;
  if (theirs === ours) return undefined;
  const side = theirs < ours ? "the client" : "the server";
  const fields = { client_ver: String(client), server_ver: server, client_or_server: side };
  return failure("HandshakeVersionMismatch", fields);
}

function majorOf(version: string): number | undefined {
  const [, major] = SEMVER.exec(version) ?? [];
  return major === undefined ? undefined : Number(major);
}
