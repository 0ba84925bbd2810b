/**
 * The tokens of one engine: it checks them on each request, makes them after a confirmation, and revokes them.
 *
 * 1. Every transport but the in-process one needs a token, the Unix socket included.
 * 2. The owner's token is in `control.token` (mode 0600). It is renewed long before it expires.
 * 3. A message never contains a token.
 */

import { createHash, timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import type { Clock } from "../../base/clock.js";
import { createIdSource, type IdSource } from "../../base/ulid.js";
import type { Variables } from "../../base/variables.js";
import { type Failure, failure } from "../../protocol/errors.js";
import type { TokenId } from "../../protocol/ids.js";
import { roots } from "../../system/xdg-paths.js";
import {
  DEFAULT_LIFETIME_SECONDS,
  isOwner,
  makeClaims,
  mintProblem,
  type TokenClaims,
  type WantedClaims,
} from "./claims.js";
import { type ConfirmationChannel, Confirmations, type OpenConfirmation, PAGE } from "./confirmation.js";
import { readPrivateFile, writePrivateFile } from "./private-file.js";
import { openSigningKey } from "./signing-key.js";
import type { FileToken } from "./token-file.js";
import { type IssuedToken, TokenRecords } from "./token-records.js";
import { readToken, signToken } from "./token-text.js";

export interface TokensOptions {
  readonly stateFolder: string;
  readonly clock: Clock;
  readonly channels?: readonly ConfirmationChannel[];
  readonly fileTokens?: readonly FileToken[];
}

export interface NewToken {
  readonly token: string;
  readonly claims: TokenClaims;
}

/** Describes who asks for a token: the holder of another one, or a program of this user on the socket. */
export interface TokenAsker {
  readonly claims?: TokenClaims | undefined;
  /** It is a page of this engine. */
  readonly isPage?: boolean;
  readonly client?: string | undefined;
}

type Checked = { readonly claims: TokenClaims } | { readonly failure: Failure };

const OWNER_NAME = "owner";
const RENEW_BEFORE_SECONDS = DEFAULT_LIFETIME_SECONDS / 2;

export class Tokens {
  readonly #key: Uint8Array;
  readonly #options: TokensOptions;
  readonly #records: TokenRecords;
  readonly #confirmations: Confirmations;
  readonly #files: readonly { readonly digest: Buffer; readonly claims: TokenClaims }[];
  readonly #ids: IdSource;
  readonly #onRevoke = new Set<(jti: string) => void>();

  static async open(options: TokensOptions): Promise<Tokens> {
    const tokens = new Tokens(options, await openSigningKey(options.stateFolder, options.clock));
    await tokens.#records.removeExpired();
    return tokens;
  }

  private constructor(options: TokensOptions, key: Uint8Array) {
    const { stateFolder, clock, channels = [], fileTokens = [] } = options;
    this.#options = options;
    this.#key = key;
    this.#records = new TokenRecords(stateFolder, clock);
    this.#confirmations = new Confirmations(channels, clock);
    this.#files = fileTokens.map(({ token, claims }) => ({ digest: digest(token), claims }));
    this.#ids = createIdSource({ wall: () => clock.wall(), random: (bytes) => crypto.getRandomValues(bytes) });
  }

  get now(): number {
    return this.#options.clock.wall() / 1000;
  }

  /** The claims of a token that is valid now. */
  check(text: string): Checked {
    const read = readToken(text, this.#key) ?? this.#fileToken(text);
    if (read === undefined) return refused("it is wrong or from another engine.");
    if ("problem" in read) return refused(`${read.problem}.`);
    const problem = this.problemOf(read.claims);
    return problem === undefined ? read : { failure: problem };
  }

  /** Tells why a token that was valid is not valid any more. */
  problemOf({ jti, exp, nbf }: TokenClaims): Failure | undefined {
    const { now } = this;
    if (now < nbf) return failure("Unauthorized", { detail: `it is valid from ${asTime(nbf)} on.` });
    if (now >= exp) return failure("TokenExpired", { exp: asTime(exp) });
    const ts = this.#records.revokedAt(jti);
    return ts === undefined ? undefined : failure("TokenRevoked", { jti, ts });
  }

  /** Asks a person to confirm a new token with a code. */
  async request(wanted: WantedClaims, by: TokenAsker): Promise<OpenConfirmation | { readonly failure: Failure }> {
    const problem = mintProblem(wanted, by.claims, this.now);
    if (problem !== undefined) return { failure: failure("Forbidden", { detail: problem }) };
    const purpose = `A program asks for a token: ${describe(wanted)}.`;
    const asker = askerOf(by);
    return this.#confirmations.open(wanted, {
      purpose,
      asker,
      ...(by.client !== undefined && { requester: by.client }),
    });
  }

  /** Makes the token for the asker. Its own token may have less time by now. */
  async confirm(request: string, code: string, by: TokenAsker): Promise<NewToken | { readonly failure: Failure }> {
    const confirmed = this.#confirmations.confirm(request, { code, asker: askerOf(by) });
    if ("failure" in confirmed) return confirmed;
    // The person who got the code in hand may do everything.
    const problem = by.isPage ? undefined : mintProblem(confirmed.wanted, by.claims, this.now);
    return problem === undefined ? this.make(confirmed.wanted) : { failure: failure("Forbidden", { detail: problem }) };
  }

  /** A code for a page that a person opens: the page gets the token for it, once. The caller has made sure that a person asks. */
  codeForPage(wanted: WantedClaims): { readonly code: string; readonly expires_at: string } {
    const { request, code, expires_at } = this.#confirmations.inHand(wanted, describe(wanted));
    return { code: `${request}.${code}`, expires_at };
  }

  /** A person does not want the token. False if the request is not open. */
  refuse(request: string): boolean {
    return this.#confirmations.refuse(request);
  }

  /** For callers that have made sure that a person wants it. */
  async make(wanted: WantedClaims): Promise<NewToken> {
    const claims = makeClaims(wanted, { jti: this.#ids.next("tok"), now: this.now });
    await this.#records.issued(claims);
    return { token: signToken(claims, this.#key), claims };
  }

  list(): readonly IssuedToken[] {
    return this.#records.list();
  }

  /** Open connections with the token end. */
  async revoke(jti: TokenId, exp?: number): Promise<void> {
    const known = exp ?? this.list().find((token) => token.jti === jti)?.exp;
    // Of an unknown token the end is unknown too: the record stays for a year.
    await this.#records.revoke(jti, known ?? Math.ceil(this.now) + 365 * DEFAULT_LIFETIME_SECONDS);
    for (const listener of this.#onRevoke) listener(jti);
  }

  onRevoke(listener: (jti: string) => void): () => void {
    this.#onRevoke.add(listener);
    return () => this.#onRevoke.delete(listener);
  }

  /** Writes the owner's token, unless the file holds one that is good for a while. One that others could read is revoked. */
  async keepOwnerToken(): Promise<string> {
    const path = ownerTokenFile(this.#options.stateFolder);
    const { text = "", isPrivate = true } = (await readPrivateFile(path)) ?? {};
    const kept = text.trim();
    const read = kept === "" ? undefined : this.check(kept);
    if (read !== undefined && "claims" in read) {
      const { claims } = read;
      if (!isPrivate) await this.revoke(claims.jti as TokenId, claims.exp);
      else if (isOwner(claims) && claims.exp - this.now > RENEW_BEFORE_SECONDS) return kept;
    }
    const { token } = await this.make({ identity_class: "human", can_mint: true, display_name: OWNER_NAME });
    await writePrivateFile(path, `${token}\n`);
    return token;
  }

  #fileToken(text: string): { readonly claims: TokenClaims } | undefined {
    const given = digest(text);
    let found: { readonly claims: TokenClaims } | undefined;
    for (const file of this.#files) if (timingSafeEqual(file.digest, given)) found = { claims: file.claims };
    return found;
  }
}

function ownerTokenFile(stateFolder: string): string {
  return join(stateFolder, "control.token");
}

/** Without a token it is a program of this user: all of them may do the same. */
function askerOf({ claims, isPage }: TokenAsker): string {
  return isPage ? PAGE : (claims?.jti ?? "socket");
}

function describe({ identity_class, sessions, folders, commands, lifetimeSeconds, can_mint }: WantedClaims): string {
  const where = folders === undefined ? "" : ` in ${folders.join(", ")}`;
  const named = sessions?.length === 0 ? "no session" : sessions?.join(", ");
  const of = `${named ?? "all sessions"}${where}${can_mint ? ", may ask for more tokens" : ""}`;
  const does = commands === undefined ? "" : `, only ${commands.join(", ")}`;
  const hours = (lifetimeSeconds ?? DEFAULT_LIFETIME_SECONDS) / 3600;
  return `${identity_class}, ${of}${does}, for ${hours >= 1 ? `${Math.round(hours)} h` : `${Math.round(hours * 60)} min`}`;
}

function refused(detail: string): { readonly failure: Failure } {
  return { failure: failure("Unauthorized", { detail }) };
}

function asTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

/** Both sides of a comparison get the same length. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

export function serviceTokens(variables: Variables, clock: Clock): Promise<Tokens> {
  return Tokens.open({ stateFolder: roots(variables).state, clock });
}
