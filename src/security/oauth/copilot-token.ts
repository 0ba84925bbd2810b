/** Exchanges GitHub's token of an account for a short-lived one for Copilot's models, which also names their address. */
import { type CredentialEndpoint, type OAuthTokens, type Refreshed, TokenRefused } from "../credentials/entry.js";
import { shown } from "./authorization.js";
import { OAuthError } from "./oauth-error.js";
import type { DeviceProvider } from "./providers.js";
import { complaint, type Exchange, isGood, object, type Reply, send, text } from "./token-endpoint.js";

export async function exchangeForCopilot(
  provider: DeviceProvider,
  account: string,
  exchange: Exchange,
): Promise<Refreshed> {
  const { exchangeUrl, exchangeHeaders } = provider;
  const headers = { accept: "application/json", ...exchangeHeaders, authorization: `token ${account}` };
  const reply = await send({ method: "GET", url: exchangeUrl, headers, secrets: [account] }, exchange);
  const access = text(reply.body.token);
  if (!isGood(reply.status) || access === "") throw problem(reply, provider);
  const expiresAt = reply.body.expires_at;
  const tokens: OAuthTokens = {
    access,
    refresh: account,
    ...(typeof expiresAt === "number" && { expiresAt: expiresAt * 1000 }),
  };
  return { tokens, endpoint: endpointOf(provider, text(object(reply.body.endpoints).api)) };
}

/** Reads where Copilot's models are, which differs by plan. The token is sent there, so it must be an address like our own. */
function endpointOf({ api }: DeviceProvider, address: string): CredentialEndpoint {
  if (!URL.canParse(address)) return api;
  const [given, own] = [new URL(address), new URL(api.baseUrl)];
  const domain = own.hostname.split(".").slice(-2).join(".");
  const isSibling = own.protocol === "https:" && given.hostname.endsWith(`.${domain}`);
  if (given.protocol !== own.protocol || !(isSibling || given.hostname === own.hostname)) return api;
  return { ...api, baseUrl: address.replace(/\/+$/, "") };
}

function problem(reply: Reply, { exchangeUrl, name }: DeviceProvider): Error {
  if (reply.status === 401) {
    return new TokenRefused(`GitHub no longer accepts this sign-in. Sign in again: oxbow auth set ${name}`);
  }
  if (reply.status !== 403 && reply.status !== 404) return complaint(reply, new URL(exchangeUrl).host);
  const message = text(object(reply.body.error_details).message) || text(reply.body.message);
  const detail = message === "" ? `HTTP ${reply.status}` : shown(reply.conceal(message));
  return new OAuthError("not-entitled", `This GitHub account cannot use Copilot: ${detail}`);
}
