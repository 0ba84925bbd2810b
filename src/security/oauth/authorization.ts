/** The sign-in address, and its answer by redirect or by a paste. Pure. */

import { createHash, timingSafeEqual } from "node:crypto";
import { shorten } from "../../base/cap-text.js";
import { safeLine } from "../../base/terminal-text.js";
import { OAuthError } from "./oauth-error.js";
import type { Proof } from "./pkce.js";
import type { BrowserProvider } from "./providers.js";

export function authorizationUrl(
  provider: BrowserProvider,
  proof: Pick<Proof, "challenge" | "state">,
  redirectUri: string,
): string {
  const url = new URL(provider.authorizeUrl);
  const parameters = {
    ...provider.authorizeExtra,
    response_type: "code",
    client_id: provider.clientId,
    redirect_uri: redirectUri,
    scope: provider.scope,
    code_challenge: proof.challenge,
    code_challenge_method: "S256",
    state: proof.state,
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** `foreign`: not an answer to this sign-in, and to be ignored. */
export type Answer = { readonly code: string; readonly issuer?: string } | { readonly error: OAuthError } | "foreign";

/** The query of a redirect. Without our state it is ignored, also if it reports a refusal. */
export function readAnswer(query: URLSearchParams, state: string): Answer {
  if (!isSame(query.get("state") ?? "", state)) return "foreign";
  return codeOrError(query);
}

/**
 * The user's paste: the whole final address of the browser, `code#state` as the provider's page shows it, or the code alone. The
 * code alone is enough: it can be redeemed only together with the verifier.
 */
export function readPaste(text: string, state: string): Answer | "unclear" {
  const pasted = text.trim().replace(/^["'<]|["'>]$/g, "");
  const query = queryOf(pasted);
  if (query === undefined) return "unclear";
  if (query.has("state") && !isSame(query.get("state") ?? "", state)) return "foreign";
  return query.has("code") || query.has("error") ? codeOrError(query) : "unclear";
}

function queryOf(pasted: string): URLSearchParams | undefined {
  if (/^https?:\/\//i.test(pasted)) return URL.canParse(pasted) ? new URL(pasted).searchParams : undefined;
  if (/(^|[?&])(code|error)=/.test(pasted)) return new URLSearchParams(pasted.replace(/^[^?]*\?/, ""));
  const [code = "", state] = pasted.split("#");
  if (!/^[\w.~+/=-]{6,2048}$/.test(code)) return undefined;
  return new URLSearchParams({ code, ...(state !== undefined && { state }) });
}

function codeOrError(query: URLSearchParams): Answer {
  const error = query.get("error");
  if (error === "access_denied") return { error: new OAuthError("refused", "The sign-in was refused in the browser.") };
  if (error) {
    const detail = shown(query.get("error_description") || error);
    return { error: new OAuthError("unexpected", `The sign-in page reported a problem: ${detail}`) };
  }
  const code = query.get("code");
  const issuer = query.get("iss");
  if (code) return { code, ...(issuer !== null && { issuer }) };
  return { error: new OAuthError("unexpected", "The sign-in page sent no code. Try again.") };
}

/** Foreign text for one line. */
export function shown(text: string): string {
  const line = safeLine(text.trim().replace(/\s+/g, " "));
  return shorten(line, 200);
}

function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
