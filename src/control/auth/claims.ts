/**
 * Describes what a token allows.
 *
 * 1. A claim that narrows a token is never ignored: a token with an unknown version, or with an unknown name in `critical_claims`, is refused.
 * 2. `sessions` absent: all sessions of its folders. An empty list: none.
 * 3. `folders` absent: for an agent that is not bound to sessions the folder of the engine, otherwise all. The owner's token has no limit.
 * 4. Times are seconds since 1970.
 */
import { isAbsolute, normalize } from "node:path";
import type { Identity } from "../../protocol/client.js";
import { COMMAND_KINDS, type CommandKind } from "../../protocol/commands.js";
import { isId, type SessionId, type TokenId } from "../../protocol/ids.js";
import { isJsonObject, type JsonObject } from "../../protocol/json.js";
import { isWithin } from "../../system/within.js";

const TOKEN_CLAIM_VERSION = 1;
export const DEFAULT_LIFETIME_SECONDS = 24 * 60 * 60;

export interface TokenClaims {
  readonly ver: typeof TOKEN_CLAIM_VERSION;
  readonly jti: TokenId;
  readonly sessions?: readonly SessionId[];
  /** The folders whose sessions it reaches and that it may open, with those below them: absolute paths. */
  readonly folders?: readonly string[];
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

/** Describes what a new token is to allow. */
export type WantedClaims = Pick<
  TokenClaims,
  "sessions" | "folders" | "commands" | "identity_class" | "display_name"
> & {
  readonly can_mint?: boolean;
  readonly lifetimeSeconds?: number;
};

const KNOWN: ReadonlySet<string> = new Set<keyof TokenClaims>([
  "ver",
  "jti",
  "sessions",
  "folders",
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
  const { jti, sessions, folders, commands, identity_class, exp, nbf, can_mint = false, display_name } = value;
  if (typeof jti !== "string" || !jti.startsWith("tok_") || jti.length > 100)
    return problem('"jti" is not an id (tok_…)');
  if (sessions !== undefined && !isSessionList(sessions)) return problem('"sessions" is not a list of session ids');
  if (folders !== undefined && !isFolderList(folders)) return problem('"folders" is not a list of absolute paths');
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
    ...(folders !== undefined && { folders }),
    ...(commands !== undefined && { commands }),
    ...{ identity_class, exp, nbf, can_mint, critical_claims: critical },
    ...(display_name !== undefined && { display_name }),
  };
  return { claims };
}

/** The claims of a new token. Its clock may be a little ahead of the reader's, so it is valid from a minute ago on. */
export function makeClaims(wanted: WantedClaims, made: { readonly jti: TokenId; readonly now: number }): TokenClaims {
  const { sessions, folders, commands, identity_class, display_name, can_mint = false } = wanted;
  const { lifetimeSeconds = DEFAULT_LIFETIME_SECONDS } = wanted;
  const narrowing = {
    ...(sessions !== undefined && { sessions }),
    ...(folders !== undefined && { folders }),
    ...(commands !== undefined && { commands }),
  };
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

/** Tells whether the token is the owner's, or one that allows as much: it may see, make and revoke tokens. */
export function isOwner({ sessions, folders, commands, identity_class, can_mint }: TokenClaims): boolean {
  const isLimited = sessions !== undefined || folders !== undefined || commands !== undefined;
  return can_mint && identity_class === "human" && !isLimited;
}

/** Tells why the holder of a token may not have a token with these claims; undefined if it may. */
export function mintProblem(wanted: WantedClaims, by: TokenClaims | undefined, now: number): string | undefined {
  if (wanted.sessions === undefined && wanted.folders === undefined)
    return 'Name the sessions of the token ("session"), or its folders ("folder").';
  const unknown = wanted.commands?.find((kind) => !COMMAND_KINDS.includes(kind as CommandKind));
  if (unknown !== undefined) return `There is no command ${show(unknown)}. There are ${COMMAND_KINDS.join(", ")}.`;
  if (by === undefined)
    return wanted.can_mint ? "Only the owner's token may allow its holder to make tokens." : undefined;
  if (!by.can_mint) return "This token may not be used to make others (can_mint).";
  if (isOwner(by)) return undefined;
  if (by.identity_class === "agent" && wanted.identity_class === "human")
    return "An agent cannot make a token for a human.";
  const more = moreThan(wanted, by);
  if (more !== undefined) return more;
  const end = now + (wanted.lifetimeSeconds ?? DEFAULT_LIFETIME_SECONDS);
  return end > by.exp ? "A token cannot outlive the one that it is made with. Ask for a shorter time." : undefined;
}

/** Tells what a token would reach beyond the one that it is made with. */
function moreThan({ sessions, folders, commands }: WantedClaims, by: TokenClaims): string | undefined {
  if (by.sessions !== undefined) {
    const session = sessions?.find((id) => !by.sessions?.includes(id));
    if (sessions === undefined)
      return "This token is for certain sessions, so a token made with it must name some of them.";
    if (session !== undefined) return `This token does not cover ${session}, so a token made with it cannot either.`;
  }
  // A session may be in any folder, so naming one is not enough.
  const ownFolders = by.folders ?? (by.identity_class === "agent" && by.sessions === undefined ? [] : undefined);
  if (ownFolders !== undefined) {
    const folder = folders?.find((each) => !ownFolders.some((own) => isWithin(each, own)));
    if (folders === undefined || folder !== undefined) {
      const which = ownFolders.length === 0 ? "the folder of the engine alone" : ownFolders.join(", ");
      return `This token covers ${which}, so a token made with it must name folders there.`;
    }
  }
  if (by.commands === undefined) return undefined;
  const command = commands?.find((kind) => !by.commands?.includes(kind));
  if (commands !== undefined && command === undefined) return undefined;
  return `This token covers only the commands ${by.commands.join(", ")}, so a token made with it must name some of them.`;
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

const MOST_FOLDERS = 100;

function isFolderList(value: unknown): value is readonly string[] {
  if (!isTextList(value) || value.length > MOST_FOLDERS) return false;
  return value.every((item) => isAbsolute(item) && item === normalize(item) && item.length <= 4096);
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
