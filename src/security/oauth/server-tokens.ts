/**
 * Sign-ins of MCP servers: how their entries look, and how the helper renews their tokens.
 *
 * 1. What a renewal needs is one text among the secrets of the entry: nothing of it is looked for in answers by itself.
 */
import {
  type OAuthEntry,
  type OAuthTokens,
  type RefreshOptions,
  TokenRefused,
  type TokenSource,
} from "../credentials/entry.js";
import { ENDED, errorCode, post, readTokens, send, type TokenRequest } from "./token-endpoint.js";

const PREFIX = "mcp:";
const RENEWAL = "renewal";

/** Describes what the token endpoint wants to know. */
export interface Renewal {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly method: "none" | "client_secret_basic" | "client_secret_post";
  /** The server that the token is for (RFC 8707). */
  readonly resource?: string;
}

export function serverCredential(server: string): string {
  return `${PREFIX}${server}`;
}

export function isServerCredential(provider: string): boolean {
  return provider.startsWith(PREFIX);
}

export interface ServerEntry {
  readonly server: string;
  readonly url: string;
  readonly access: string;
  readonly refresh?: string | undefined;
  readonly expiresInSeconds?: number | undefined;
  readonly renewal: Renewal;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The token is sent to the server's own address only. */
export function serverEntry({ server, url, access, refresh, expiresInSeconds, renewal, now }: ServerEntry): OAuthEntry {
  return {
    kind: "oauth",
    provider: serverCredential(server),
    account: "default",
    endpoint: { baseUrl: new URL(url).origin, headers: { authorization: "Bearer {secret}" } },
    addedAt: now,
    tokens: {
      access,
      ...(refresh !== undefined && { refresh }),
      ...(expiresInSeconds !== undefined && { expiresAt: now + expiresInSeconds * 1000 }),
      extra: { [RENEWAL]: JSON.stringify(renewal) },
    },
  };
}

export function serverTokenSource(provider: string): TokenSource {
  const server = provider.slice(PREFIX.length);
  return {
    provider,
    refresh: async (tokens, options) => ({ tokens: await renew(server, tokens, options) }),
  };
}

async function renew(server: string, tokens: OAuthTokens, options: RefreshOptions): Promise<OAuthTokens> {
  const again = new TokenRefused(
    `The sign-in to the MCP server '${server}' has expired. Sign in again: oxbow mcp auth ${server}`,
  );
  const written = tokens.extra?.[RENEWAL];
  if (tokens.refresh === undefined || written === undefined) throw again;
  const renewal = JSON.parse(written) as Renewal;
  const reply = await send(request(renewal, tokens.refresh), options);
  if (reply.status >= 400 && reply.status < 500 && ENDED.test(errorCode(reply))) throw again;
  const { extra: _, ...renewed } = readTokens(reply, { host: new URL(renewal.tokenUrl).host, now: options.now });
  const { expiresAt: _old, ...lasting } = tokens;
  return { ...lasting, ...renewed };
}

function request({ tokenUrl, clientId, clientSecret, method, resource }: Renewal, refresh: string): TokenRequest {
  const fields = {
    grant_type: "refresh_token",
    refresh_token: refresh,
    ...(method !== "client_secret_basic" && { client_id: clientId }),
    ...(method === "client_secret_post" && clientSecret !== undefined && { client_secret: clientSecret }),
    ...(resource !== undefined && { resource }),
  };
  const made = post(tokenUrl, fields, "form");
  if (method !== "client_secret_basic") return made;
  const login = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret ?? "")}`).toString(
    "base64",
  );
  return { ...made, headers: { ...made.headers, authorization: `Basic ${login}` }, secrets: [...made.secrets, login] };
}
