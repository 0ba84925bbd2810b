/** Describes how each provider's tokens are renewed. The helper process calls these, one at a time for an entry. */
import {
  type OAuthTokens,
  type Refreshed,
  type RefreshOptions,
  TokenRefused,
  type TokenSource,
} from "../credentials/entry.js";
import { exchangeForCopilot } from "./copilot-token.js";
import { type BrowserProvider, findOAuthProvider, type OAuthProvider } from "./providers.js";
import { isServerCredential, serverTokenSource } from "./server-tokens.js";
import { whereSignedIn } from "./test-server.js";
import { ENDED, errorCode, post, readTokens, send } from "./token-endpoint.js";

/** Undefined for a provider without a sign-in. */
export function tokenSource(name: string): TokenSource | undefined {
  if (isServerCredential(name)) return serverTokenSource(name);
  const provider = findOAuthProvider(name);
  if (provider === undefined) return undefined;
  return {
    provider: name,
    refresh: (tokens, options) => refresh(whereSignedIn(provider, options.endpoint), tokens, options),
  };
}

async function refresh(provider: OAuthProvider, tokens: OAuthTokens, options: RefreshOptions): Promise<Refreshed> {
  if (tokens.refresh === undefined) throw signInAgain(provider);
  if (provider.flow === "device") {
    const renewed = await exchangeForCopilot(provider, tokens.refresh, options);
    return { ...renewed, tokens: { ...tokens, ...renewed.tokens } };
  }
  return { tokens: await renew(provider, { ...tokens, refresh: tokens.refresh }, options) };
}

async function renew(
  provider: BrowserProvider,
  tokens: OAuthTokens & { readonly refresh: string },
  options: RefreshOptions,
): Promise<OAuthTokens> {
  const fields = { grant_type: "refresh_token", client_id: provider.clientId, refresh_token: tokens.refresh };
  const reply = await send(post(provider.tokenUrl, fields, provider.tokenBody), options);
  if (reply.status >= 400 && reply.status < 500 && ENDED.test(errorCode(reply))) throw signInAgain(provider);
  const renewed = readTokens(reply, { host: new URL(provider.tokenUrl).host, now: options.now });
  // Without a new refresh token the old one stays valid; the same applies to the account's name.
  const { expiresAt: _, ...lasting } = tokens;
  return { ...lasting, ...renewed };
}

function signInAgain({ label, name }: OAuthProvider): TokenRefused {
  return new TokenRefused(`The sign-in with ${label} has expired. Sign in again: oxbow auth set ${name}`);
}
