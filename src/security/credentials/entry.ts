/**
 * Describes what the credential file holds: one entry for each provider and account, an API key or OAuth tokens, bound to
 * the one address it may be sent to.
 *
 * 1. An entry contains its endpoint. A caller names the entry, never a host, so no caller can send a key anywhere else.
 * 2. Headers are templates (`Bearer {secret}`), so that the helper process does not have to know providers.
 */
import type { HttpClient } from "../../system/http-client.js";

export type CredentialEntry = ApiKeyEntry | OAuthEntry;

interface EntryBase {
  /** The provider's name, as in `oxbow auth set NAME`. */
  readonly provider: string;
  /** `default`, unless the user has several for one provider. */
  readonly account: string;
  readonly endpoint: CredentialEndpoint;
  /** Milliseconds since 1970. */
  readonly addedAt: number;
}

export interface ApiKeyEntry extends EntryBase {
  readonly kind: "api_key";
  readonly key: string;
}

export interface OAuthEntry extends EntryBase {
  readonly kind: "oauth";
  readonly tokens: OAuthTokens;
}

export interface CredentialEndpoint {
  /** An http or https address. Requests go to its origin, to paths at or below its path. */
  readonly baseUrl: string;
  /**
   * Headers for each request, by lower-case name. `{secret}` is the key or the access token, `{extra.NAME}` a field of
   * the tokens' `extra`; a header whose field is missing is dropped.
   */
  readonly headers: Readonly<Record<string, string>>;
}

export interface OAuthTokens {
  readonly access: string;
  readonly refresh?: string;
  /** Milliseconds since 1970; absent when the access token does not expire. */
  readonly expiresAt?: number;
  /** The user, as it may be shown: an e-mail address or a login. */
  readonly identity?: string;
  /** Values that the provider expects back: an account id, an id token. As secret as the tokens. */
  readonly extra?: Readonly<Record<string, string>>;
}

export interface RefreshOptions {
  readonly http: HttpClient;
  readonly signal: AbortSignal;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The entry's, as it is now. */
  readonly endpoint: CredentialEndpoint;
}

export interface Refreshed {
  readonly tokens: OAuthTokens;
  /** The address to which a provider moves its users by what it answers. */
  readonly endpoint?: CredentialEndpoint;
}

/** Describes how one provider's tokens are renewed. Runs in the helper process only. */
export interface TokenSource {
  readonly provider: string;
  /**
   * Never called twice at a time for one entry, also not by two processes, and what it gives is on the disk before it is used: a
   * refresh token that can be used only once is not lost. Rejects with TokenRefused if the user must sign in again; anything else it
   * rejects with may pass.
   */
  refresh(tokens: OAuthTokens, options: RefreshOptions): Promise<Refreshed>;
}

/** The provider does not renew these tokens: the user has to sign in again. The message holds no token. */
export class TokenRefused extends Error {
  override readonly name = "TokenRefused";
}

/** The account of a key from the environment of a client: the key itself is only in the memory of the helper. */
const LENT = "environment-";

export function lentAccount(mark: string): string {
  return `${LENT}${mark}`;
}

export function isLent({ account }: { readonly account: string }): boolean {
  return account.startsWith(LENT);
}

export const DEFAULT_ACCOUNT = "default";
/** Tokens are renewed this long before they expire, so that none expires during a request. */
export const REFRESH_AHEAD_MS = 5 * 60 * 1000;
