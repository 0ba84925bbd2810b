/**
 * Talking to a token endpoint (RFC 6749, sections 4.1.3, 5 and 6).
 *
 * 1. Nothing that was sent or received as a secret is in an error.
 * 2. A redirect is not followed: a code or a refresh token goes to the one address it is for.
 */
import { isJsonObject, type JsonObject } from "../../protocol/json.js";
import type { HttpClient, HttpRequest, HttpResponse } from "../../system/http-client.js";
import { HttpError } from "../../system/http-error.js";
import type { OAuthTokens } from "../credentials/entry.js";
import { shown } from "./authorization.js";
import { cancelled, OAuthError } from "./oauth-error.js";

/** Error codes for a refresh token that is used up, revoked or too old. The standard has the first only. */
export const ENDED = /^(invalid_grant|refresh_token_(expired|reused|invalidated)|token_(expired|revoked))$/;

export interface Exchange {
  readonly http: HttpClient;
  readonly signal: AbortSignal;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export interface Reply {
  readonly status: number;
  /** Empty if the body is not a JSON object. */
  readonly body: JsonObject;
  /** Text of the answer without the secrets of the request, which some servers repeat. */
  readonly conceal: (text: string) => string;
}

export type TokenRequest = Pick<HttpRequest, "method" | "url" | "headers" | "body"> & {
  readonly secrets: readonly string[];
};

const TIMEOUTS = { connectMs: 10_000, idleMs: 30_000 } as const;
const MOST_BYTES = 256 * 1024;

/** Fields with secrets. */
const SECRET_FIELDS = ["code", "code_verifier", "refresh_token", "device_code", "client_secret"] as const;

export async function send(
  { secrets, ...request }: TokenRequest,
  { http, signal }: Pick<Exchange, "http" | "signal">,
): Promise<Reply> {
  let response: HttpResponse | undefined;
  try {
    response = await http.request({ ...request, signal, timeouts: TIMEOUTS });
    const text = await response.text(MOST_BYTES);
    const conceal = (message: string) => secrets.reduce((line, secret) => line.replaceAll(secret, "[…]"), message);
    return { status: response.status, body: parse(text), conceal };
  } catch (error) {
    if (signal.aborted) throw cancelled();
    if (!(error instanceof HttpError)) throw error;
    throw new OAuthError("unreachable", `Could not reach ${new URL(request.url).host}: ${error.message}.`);
  } finally {
    response?.destroy();
  }
}

export function post(url: string, fields: Readonly<Record<string, string>>, form: "form" | "json"): TokenRequest {
  const type = form === "form" ? "application/x-www-form-urlencoded" : "application/json";
  const body = form === "form" ? new URLSearchParams(fields).toString() : JSON.stringify(fields);
  const secrets = SECRET_FIELDS.map((name) => fields[name] ?? "").filter((value) => value !== "");
  return { method: "POST", url, headers: { accept: "application/json", "content-type": type }, body, secrets };
}

/** The tokens of an answer; throws an OAuthError for any other answer. */
export function readTokens(reply: Reply, { host, now }: { readonly host: string; readonly now: number }): OAuthTokens {
  const access = text(reply.body.access_token);
  if (!isGood(reply.status) || access === "") throw complaint(reply, host);
  if (!isSendable(access)) throw new OAuthError("unexpected", `${host} sent a token that no header can carry.`);
  const refresh = text(reply.body.refresh_token);
  const claims = claimsOf(text(reply.body.id_token));
  const own = claimsOf(access);
  const lifetime = reply.body.expires_in;
  const expiresAt =
    typeof lifetime === "number" && lifetime > 0
      ? now + lifetime * 1000
      : typeof own.exp === "number"
        ? own.exp * 1000
        : undefined;
  const identity = text(claims.email) || text(own.email) || text(object(reply.body.account).email_address);
  const account = accountOf(claims) || accountOf(own);
  return {
    access,
    ...(refresh !== "" && { refresh }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(identity !== "" && { identity: shown(identity) }),
    ...(isSendable(account) && { extra: { account_id: account } }),
  };
}

/** A problem as the standard reports it, and as some providers do: `{"error":{"code":…,"message":…}}`. */
export function errorCode({ body }: Reply): string {
  return text(body.error) || text(object(body.error).code) || text(object(body.error).type) || text(body.code);
}

export function complaint(reply: Reply, host: string): OAuthError {
  const code = errorCode(reply);
  if (code === "access_denied") return new OAuthError("refused", `${host} refused the sign-in.`);
  const words =
    text(reply.body.error_description) || text(object(reply.body.error).message) || text(reply.body.message);
  const detail = shown(reply.conceal([code, words].filter((part) => part !== "").join(": ")));
  const passing = reply.status === 429 || reply.status >= 500;
  const answered = isGood(reply.status) && detail === "" ? "without a token" : `with HTTP ${reply.status}`;
  const message = `${host} answered ${answered}${detail === "" ? "" : ` (${detail})`}.`;
  return new OAuthError(passing ? "unreachable" : "unexpected", message);
}

export function isGood(status: number): boolean {
  return status >= 200 && status < 300;
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function object(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The claims of a token. They are not verified: the provider checks the token. */
function claimsOf(token: string): JsonObject {
  const payload = token.split(".")[1];
  return payload === undefined ? {} : parse(Buffer.from(payload, "base64url").toString("utf8"));
}

/** The ChatGPT account that a plan belongs to; one person may have several. */
function accountOf(claims: JsonObject): string {
  const own = object(claims["https://api.openai.com/auth"]);
  return text(own.chatgpt_account_id) || text(claims.chatgpt_account_id);
}

/** Visible ASCII, so that an answer can never inject a header. */
function isSendable(value: string): boolean {
  return /^[\x21-\x7e]+$/.test(value);
}

function parse(body: string): JsonObject {
  try {
    return object(JSON.parse(body));
  } catch {
    return {};
  }
}
