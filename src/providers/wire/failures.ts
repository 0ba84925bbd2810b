/**
 * Turns a provider's error into a Failure: one table for HTTP errors and for errors inside a stream.
 *
 * 1. The provider's own error type decides before the HTTP status, because gateways send everything as 400 or 500.
 * 2. The text is one short line without anything that looks like a key.
 */
import { type BuiltInReason, type Failure, type FailureTraits, failure } from "../../protocol/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import { readResetTime } from "../retry/reset-time.js";
import { asList, asNumber, asObject, asText, parseJson } from "./fields.js";
import type { WireContext } from "./wire.js";

export type FailureContext = Pick<WireContext, "provider" | "model" | "url" | "keyName">;

export interface ErrorResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An error as the provider describes it. */
interface Complaint {
  readonly status: number | undefined;
  /** Its types and codes, in lower case. */
  readonly words: readonly string[];
  readonly message: string;
}

const DETAIL_CHARS = 300;
/** Used when a provider limits the rate without giving a time. */
const USUAL_RETRY_SECONDS = 5;

/** `now`: milliseconds since the epoch, for times without the server's own clock. */
export function responseFailure(
  response: ErrorResponse,
  context: FailureContext,
  { now }: { readonly now?: number } = {},
): Failure {
  const { status, headers } = response;
  const value = unlisted(parseJson(response.body));
  if (status >= 300 && status < 400) {
    return { ...malformed(`HTTP ${status}, a redirect to ${headers.location ?? "nowhere"}`, context), status };
  }
  const complaint = isJsonObject(value)
    ? readComplaint(value, status)
    : { status, words: [], message: typeof value === "string" ? value : textOf(response.body) };
  const retryAfterMs = readResetTime({ headers, error: value, message: complaint.message }, now);
  return toFailure(complaint, context, { status, ...(retryAfterMs !== undefined && { retry_after_ms: retryAfterMs }) });
}

/** Google puts an error into a list when the answer would have been one. */
function unlisted(value: JsonValue | undefined): JsonValue | undefined {
  return Array.isArray(value) && isJsonObject(value[0]) ? value[0] : value;
}

/** An error object found in a stream, or in a body that was sent with status 200. */
export function streamFailure(error: JsonValue, context: FailureContext): Failure {
  const complaint = readComplaint(isJsonObject(error) ? error : { message: String(error) }, undefined);
  const retryAfterMs = readResetTime({ headers: {}, error, message: complaint.message });
  return toFailure(complaint, context, {
    ...(complaint.status !== undefined && { status: complaint.status }),
    ...(retryAfterMs !== undefined && { retry_after_ms: retryAfterMs }),
  });
}

export function interrupted(context: FailureContext): Failure {
  return failure("StreamInterrupted", { name: context.provider }, { retryable: true });
}

/** The failure when no response came. `code` is the error code of the operating system. */
export function unreached(
  about: {
    readonly provider: string;
    readonly url: string;
    readonly detail: string;
    readonly code: string | undefined;
  },
  traits: FailureTraits = {},
): Failure {
  const { provider: name, url, detail, code = "" } = about;
  const fields = { name, url, detail: oneLine(detail), hint: networkHint(name, code) };
  return failure("NetworkFailed", fields, traits);
}

function networkHint(provider: string, code: string): string {
  if (/^(ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH)$/.test(code)) {
    return "Is this machine online, and is the address right?";
  }
  if (/^ERR_(PROXY|NETWORK)_/.test(code)) return "'oxbow doctor' shows the proxy and the certificates in use.";
  if (/CERT|SIGNATURE/.test(code)) {
    return "If a company proxy signs certificates, set its certificate authority in NODE_EXTRA_CA_CERTS or the setting ca_file.";
  }
  if (provider === "ollama" && code === "ECONNREFUSED")
    return "Start it with 'oxbow ollama start', or set OLLAMA_HOST.";
  return "Is it running, and is the address right?";
}

export function malformed(detail: string, context: FailureContext): Failure {
  return failure("MalformedResponse", { name: context.provider, url: context.url, detail: oneLine(detail) });
}

/** The failure for an answer that is too large to hold in memory. */
export function tooLong({ provider }: Pick<FailureContext, "provider">): Failure {
  return failure("AnswerTooLong", { name: provider, limit: "256 MB on the wire" });
}

function readComplaint(value: JsonObject, httpStatus: number | undefined): Complaint {
  const inner = isJsonObject(value.error) ? value.error : value;
  const status = httpStatus ?? asStatus(inner.status_code) ?? asStatus(inner.code) ?? asStatus(inner.status);
  const words = [inner.type, inner.code, inner.status, value.type]
    .map((word) => asText(word).toLowerCase())
    .filter((word) => word !== "");
  return { status, words, message: readMessage(value, inner) };
}

function readMessage(value: JsonObject, inner: JsonObject): string {
  // A router's own message says only that the provider behind it failed.
  const upstream = asText(asObject(inner.metadata).raw);
  if (upstream !== "") return upstream;
  const candidates = [
    inner.message,
    value.error,
    value.message,
    value.detail,
    asObject(asList(value.errors)[0]).message,
  ];
  const message = candidates.map(asText).find((text) => text !== "");
  return message ?? JSON.stringify(inner);
}

function asStatus(value: unknown): number | undefined {
  const number = asNumber(typeof value === "string" && /^[45]\d\d$/.test(value) ? Number(value) : value);
  return number !== undefined && number >= 400 && number < 600 ? number : undefined;
}

function toFailure(complaint: Complaint, context: FailureContext, traits: FailureTraits): Failure {
  const { reason, retryable } = judge(complaint);
  const status = complaint.status ?? 200;
  const isOllama = context.provider === "ollama";
  const fields = {
    name: context.provider,
    model: context.model,
    url: context.url,
    what: status === 403 ? "access" : "the key",
    key_name: context.keyName ?? (isOllama ? "that Ollama is signed in ('ollama signin')" : "the API key"),
    more: isOllama ? `, 'oxbow ollama pull ${context.model}' gets it` : "",
    status,
    detail: detailOf(reason, { status, message: oneLine(complaint.message) }),
    "retry-after": Math.ceil((traits.retry_after_ms ?? USUAL_RETRY_SECONDS * 1000) / 1000),
  };
  return failure(reason, fields, { ...traits, ...(retryable && { retryable }) });
}

/** The provider's message, for the text of the reason. */
function detailOf(reason: BuiltInReason, answer: { readonly status: number; readonly message: string }): string {
  const code = `HTTP ${answer.status}`;
  const words = answer.message.replace(/\.$/, "");
  switch (reason) {
    case "AuthFailed":
      return words === "" ? code : `${code}: ${words}`;
    case "MalformedResponse":
      return words === "" ? code : `${code}, ${words}`;
    // A sentence follows.
    case "QuotaExceeded":
    case "ContextTooLong":
      return /[?!…]$/.test(words) ? words : `${words || code}.`;
    default:
      return answer.message || code;
  }
}

interface Verdict {
  readonly reason: BuiltInReason;
  readonly retryable?: true;
}

interface Rule extends Verdict {
  readonly statuses?: readonly number[];
  readonly words?: RegExp;
  readonly message?: RegExp;
}

/** The first match wins. Words and messages match any status; `4xx` and `5xx` catch the rest. */
const RULES: readonly Rule[] = [
  { reason: "QuotaExceeded", words: /insufficient_quota|billing|insufficient_(credit|balance)|payment_required/ },
  { reason: "QuotaExceeded", message: /credit balance|insufficient (credit|balance|funds|quota)|out of credits/i },
  // The daily quota is used up: waiting minutes does not help.
  { reason: "QuotaExceeded", message: /per[-_ ]day\b|\bdaily (limit|quota)|PerDay/i, statuses: [] },
  { reason: "RateLimited", retryable: true, statuses: [429], words: /rate_limit|too_many_requests/ },
  { reason: "QuotaExceeded", statuses: [402] },
  {
    reason: "ContextTooLong",
    statuses: [413],
    words: /context_(length|window)|context_size|request_too_large|too_long/,
  },
  {
    reason: "ContextTooLong",
    message:
      /context (length|window|size|limit)|(prompt|input|request) is too long|too many (input )?tokens|exceeds? the (maximum|max) number of tokens/i,
  },
  { reason: "ContentRefused", words: /content_filter|content_policy|responsibleai/ },
  { reason: "ModelNotFound", words: /model_not_found|model_not_exist/ },
  { reason: "AuthFailed", statuses: [401, 403], words: /authentication|permission_(error|denied)|invalid_api_key/ },
  { reason: "AuthFailed", message: /api key (is )?(not valid|invalid|expired|not found)|invalid api key/i },
  {
    reason: "Overloaded",
    retryable: true,
    statuses: [503, 529],
    words: /overloaded|unavailable|insufficient_system_resource/,
  },
  // A retry does not add memory.
  { reason: "ProviderFailed", message: /system memory|out of memory/i },
  {
    reason: "ProviderFailed",
    retryable: true,
    statuses: [408],
    words: /^(api_error|server_error|internal.*|timeout.*)$/,
  },
];

function judge({ status, words, message }: Complaint): Verdict {
  if (status === 404 || words.includes("not_found_error")) {
    // If the message does not mention a model, the address was not found.
    return { reason: /\bmodels?\b|endpoints found/i.test(message) ? "ModelNotFound" : "MalformedResponse" };
  }
  if (status === 405) return { reason: "MalformedResponse" };
  for (const rule of RULES) {
    const fits =
      (status !== undefined && rule.statuses?.includes(status)) ||
      words.some((word) => rule.words?.test(word)) ||
      rule.message?.test(message);
    if (fits) return rule;
  }
  const ours = status === undefined ? words.some((word) => /invalid_|bad_request/.test(word)) : status < 500;
  if (ours) return { reason: "BadRequest" };
  return { reason: "ProviderFailed", retryable: true };
}

/** The text of a page that a proxy or a web server sent instead of an answer. */
export function textOf(body: string): string {
  if (!/<(!doctype|html|head|body|title)\b/i.test(body)) return body;
  const title = /<title[^>]*>([^<]*)</i.exec(body)?.[1]?.trim();
  return `a web page${title ? ` ("${title}")` : ""}`;
}

export function oneLine(text: string): string {
  const line = hideKeys(text.replace(/[\s\x00-\x1f\x7f-\x9f]+/g, " ").trim());
  return line.length > DETAIL_CHARS ? `${line.slice(0, DETAIL_CHARS - 1)}…` : line;
}

/** Some servers repeat the key they refused. */
function hideKeys(text: string): string {
  return text
    .replace(/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, "$1 [key]")
    .replace(/\b(sk|pk|gsk|csk|xai|pplx|hf|fw|nvapi|key|sess|gh[pousr])[-_](?=[\w*.-]*[\d*])[\w*.-]{8,}/gi, "[key]")
    .replace(/\bAIza[\w-]{20,}/g, "[key]");
}
