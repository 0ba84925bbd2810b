/**
 * What a token allows.
 *
 * 1. A claim that narrows a token is never ignored: a token with an unknown version, or with an unknown name in `critical_claims`, is refused.
 * 2. `sessions` absent: all sessions. Only the owner's token may leave it out. An empty list: none.
 * 3. Times are seconds since 1970.
 */
import type { Identity } from "../../protocol/client.js";
import { COMMAND_KINDS, type CommandKind } from "../../protocol/commands.js";
import { isId, type SessionId, type TokenId } from "../../protocol/ids.js";
import { isJsonObject, type JsonObject } from "../../protocol/json.js";

export const TOKEN_CLAIM_VERSION = 1;
export const DEFAULT_LIFETIME_SECONDS = 24 * 60 * 60;

export interface TokenClaims {
  readonly ver: typeof TOKEN_CLAIM_VERSION;
  readonly jti: TokenId;
  readonly sessions?: readonly SessionId[];
  /** The commands it may send; absent: all that its identity may. */
  readonly commands?: readonly string[];
  readonly identity_class: Identity;
  readonly exp: number;
  readonly nbf: number;
  /** It may be used to ask for other tokens. */
  readonly can_mint: boolean;
  readonly critical_claims: readonly string[];
  readonly display_name?: string;
}

/** What a new token is to allow. */
export type WantedClaims = Pick<TokenClaims, "sessions" | "commands" | "identity_class" | "display_name"> & {
  readonly can_mint?: boolean;
  readonly lifetimeSeconds?: number;
};

const KNOWN: ReadonlySet<string> = new Set<keyof TokenClaims>([
  "ver",
  "jti",
  "sessions",
  "commands",
  "identity_class",
  "exp",
  "nbf",
  "can_mint",
  "critical_claims",
  "display_name",
]);

export type ReadClaims = { readonly claims: TokenClaims } | { readonly problem: string };

/** Checks claims of any origin. Unknown claims are dropped, unless the token calls them critical. */
export function readClaims(value: unknown): ReadClaims {
  if (!isJsonObject(value)) return problem("the claims are not an object");
  if (value.ver !== TOKEN_CLAIM_VERSION) {
    return problem(`its version is ${show(value.ver)}, and this Oxbow knows version ${TOKEN_CLAIM_VERSION}`);
  }
  const critical = value.critical_claims ?? [];
  if (!isTextList(critical)) return problem('"critical_claims" is not a list of names');
  const unknown = critical.find((name) => !KNOWN.has(name) || value[name] === undefined);
  if (unknown !== undefined) return problem(`its critical claim ${show(unknown)} is unknown or missing`);
  return readKnown(value, critical);
}

function readKnown(value: JsonObject, critical: readonly string[]): ReadClaims {
  const { jti, sessions, commands, identity_class, exp, nbf, can_mint = false, display_name } = value;
  if (typeof jti !== "string" || !jti.startsWith("tok_") || jti.length > 100)
    return problem('"jti" is not an id (tok_…)');
  if (sessions !== undefined && !isSessionList(sessions)) return problem('"sessions" is not a list of session ids');
  if (commands !== undefined && !isTextList(commands)) return problem('"commands" is not a list of commands');
  if (identity_class !== "human" && identity_class !== "agent") {
    return problem('"identity_class" must be "human" or "agent"');
  }
  if (!isTime(exp)) return problem('"exp" is not a time in seconds');
  if (!isTime(nbf)) return problem('"nbf" is not a time in seconds');
  if (typeof can_mint !== "boolean") return problem('"can_mint" is not true or false');
  if (display_name !== undefined && !isName(display_name)) return problem('"display_name" is not a short text');
  const claims: TokenClaims = {
    ver: TOKEN_CLAIM_VERSION,
    jti: jti as TokenId,
    ...(sessions !== undefined && { sessions }),
    ...(commands !== undefined && { commands }),
    ...{ identity_class, exp, nbf, can_mint, critical_claims: critical },
    ...(display_name !== undefined && { display_name }),
  };
  return { claims };
}

/** The claims of a new token. Its clock may be a little ahead of the reader's, so it is valid from a minute ago on. */
export function makeClaims(wanted: WantedClaims, made: { readonly jti: TokenId; readonly now: number }): TokenClaims {
  const { sessions, commands, identity_class, display_name, can_mint = false } = wanted;
  const { lifetimeSeconds = DEFAULT_LIFETIME_SECONDS } = wanted;
  const narrowing = { ...(sessions !== undefined && { sessions }), ...(commands !== undefined && { commands }) };
  return {
    ver: TOKEN_CLAIM_VERSION,
    jti: made.jti,
    ...narrowing,
    identity_class,
    exp: Math.floor(made.now) + lifetimeSeconds,
    nbf: Math.floor(made.now) - 60,
    can_mint,
    critical_claims: ["identity_class", ...Object.keys(narrowing)],
    ...(display_name !== undefined && { display_name }),
  };
}

/** Why the holder of a token may not have a token with these claims; undefined if it may. */
export function mintProblem(wanted: WantedClaims, by: TokenClaims | undefined, now: number): string | undefined {
  if (wanted.sessions === undefined) return 'Name the sessions of the token ("session").';
  const unknown = wanted.commands?.find((kind) => !COMMAND_KINDS.includes(kind as CommandKind));
  if (unknown !== undefined) return `There is no command ${show(unknown)}. There are ${COMMAND_KINDS.join(", ")}.`;
  if (by === undefined)
    return wanted.can_mint ? "Only the owner's token may allow its holder to make tokens." : undefined;
  if (!by.can_mint) return "This token may not be used to make others (can_mint).";
  if (by.identity_class === "agent" && wanted.identity_class === "human")
    return "An agent cannot make a token for a human.";
  const session = wanted.sessions.find((id) => by.sessions !== undefined && !by.sessions.includes(id));
  if (session !== undefined) return `This token does not cover ${session}, so a token made with it cannot either.`;
  if (by.commands !== undefined) {
    const more = wanted.commands?.find((kind) => !by.commands?.includes(kind));
    if (wanted.commands === undefined || more !== undefined) {
      return `This token covers only the commands ${by.commands.join(", ")}, so a token made with it must name some of them.`;
    }
  }
  // The owner's token is renewed all the time, so its end is no limit.
  if (by.sessions === undefined) return undefined;
  const end = now + (wanted.lifetimeSeconds ?? DEFAULT_LIFETIME_SECONDS);
  return end > by.exp ? "A token cannot outlive the one that it is made with. Ask for a shorter time." : undefined;
}

function problem(text: string): { readonly problem: string } {
  return { problem: text };
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function isSessionList(value: unknown): value is readonly SessionId[] {
  return isTextList(value) && value.every((item) => isId("sess", item));
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value.length <= 200;
}

function show(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 60) ?? "missing";
}
