/**
 * Decides which parts of a request a replay compares, and which may differ from run to run (docs/testing.md lists them).
 *
 * 1. Two requests that mean the same give the same value: the order of keys, ids that Oxbow makes up, the folders of this machine,
 *    today's date and the key are ignored.
 * 2. Everything else is compared. Nothing here depends on the wire.
 * 3. It is idempotent.
 */
import { isJsonObject, type JsonValue } from "../../protocol/json.js";
import type { HttpRequest } from "../../system/http-client.js";
import type { TapedRequest } from "./tape.js";

/** A folder that differs in the next run; `{{name}}` replaces it. */
export interface Place {
  readonly name: string;
  readonly path: string;
}

export interface Surroundings {
  readonly places: readonly Place[];
  /** The date when the run began, as YYYY-MM-DD. */
  readonly today: string;
  /** Hides secrets that a text may hold. */
  readonly redact: (text: string) => string;
  /** A short name for content that is too long to store. */
  readonly digest: (text: string) => string;
}

const KEPT_HEADERS = /^(accept|content-type|anthropic-version|anthropic-beta|openai-beta)$/;
const KEY_HEADERS = /auth|key|token|secret|cookie/i;
const KEY_PARAMETERS = ["key", "api_key", "access_token"];
const STREAMS = /event-stream|ndjson/;
const OWN_ID = /\b(sess|log|call|tok|cli|turn)_[0-7][0-9A-HJKMNP-TV-Z]{25}\b/g;
/** The fields that hold ids of calls. Some servers want ids of nine characters, which have no other recognisable form. */
const ID_FIELDS = /^(id|call_id|tool_call_id|tool_use_id)$/;
const NINE_CHARACTERS = /^[A-Za-z0-9]{9}$/;
/** The context size of a local model depends on the memory of the machine. */
const LEFT_OUT = "num_ctx";
const TIME = /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})/g;
/** The random word around text from outside (src/security/untrusted): short around results. */
const UNTRUSTED_MARK = /(<\/?(?:untrusted|approved)-)[b-t]{3}(?:[b-t]{13})?\b/g;
/** An image or a document: the bytes matter, but in a file they are unreadable. */
const LONG_BASE64 = /^(data:[\w.+/-]+;base64,)?([A-Za-z0-9+/]{2048,}={0,2})$/;

/** Tells whether this is a model call: only those expect a stream as the answer. */
export function isCall({ method, headers = {} }: HttpRequest): boolean {
  return method === "POST" && STREAMS.test(headers.accept ?? "");
}

/** The keys that a request carries, to find them where a response repeats them. */
export function keysOf({ url, headers = {} }: HttpRequest): readonly string[] {
  const values = Object.entries(headers).flatMap(([name, value]) => (KEY_HEADERS.test(name) ? [value] : []));
  const parameters = URL.canParse(url) ? new URL(url).searchParams : new URLSearchParams();
  const given = KEY_PARAMETERS.flatMap((name) => parameters.getAll(name));
  return [...values.map((value) => value.replace(/^(Bearer|Basic)\s+/i, "")), ...given].filter(
    (key) => key.length >= 8,
  );
}

export function withoutKeys(text: string, keys: readonly string[]): string {
  return keys.reduce((clean, key) => clean.replaceAll(key, "{{key}}"), text);
}

export function canonicalRequest(request: HttpRequest, surroundings: Surroundings): TapedRequest {
  const { method, url, headers = {}, body = "" } = request;
  const keys = keysOf(request);
  const kept = Object.entries(headers)
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => KEPT_HEADERS.test(name))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    method,
    path: isCall(request) ? pathOf(url) : `${originOf(url)}${pathOf(url)}`,
    headers: Object.fromEntries(kept),
    body: canonicalBody(withoutKeys(body, keys), surroundings),
  };
}

/** Several servers on one machine get the same request for a list, so the port matters. */
function originOf(url: string): string {
  return isAddress(url) ? new URL(url).origin : "";
}

/** Without the host: a recording made against another address of the same service still fits. A program has a name only. */
function pathOf(url: string): string {
  if (!isAddress(url)) return url;
  const { pathname, searchParams } = new URL(url);
  for (const name of KEY_PARAMETERS) searchParams.delete(name);
  searchParams.sort();
  const query = searchParams.toString();
  return query === "" ? pathname : `${pathname}?${query}`;
}

function isAddress(url: string): boolean {
  return /^https?:/.test(url) && URL.canParse(url);
}

function canonicalBody(body: string, surroundings: Surroundings): JsonValue {
  const original = parse(body);
  if (original === undefined) return canonicalText(surroundings.redact(body), surroundings, new Map());
  const short = shorten(original, surroundings);
  // The whole text first: a name and its value together reveal a secret that neither does alone.
  const whole = parse(surroundings.redact(JSON.stringify(short)));
  const redacted = whole ?? mapTexts(short, surroundings.redact);
  const ids = new Map<string, string>();
  return mapTexts(sorted(redacted), (text, field) => {
    if (ID_FIELDS.test(field) && NINE_CHARACTERS.test(text)) return numbered(text, "call", ids);
    return canonicalText(text, surroundings, ids);
  });
}

function numbered(id: string, prefix: string, ids: Map<string, string>): string {
  const known = ids.get(id) ?? `${prefix}_${ids.size + 1}`;
  ids.set(id, known);
  return known;
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

function shorten(value: JsonValue, { digest }: Surroundings): JsonValue {
  return mapTexts(value, (text) => {
    const long = LONG_BASE64.exec(text);
    return long === null ? text : `${long[1] ?? ""}{{base64 ${digest(text)}}}`;
  });
}

function canonicalText(text: string, { places, today }: Surroundings, ids: Map<string, string>): string {
  return withoutPlaces(text, places)
    .replaceAll(TIME, "{{time}}")
    .replaceAll(today, "{{today}}")
    .replaceAll(UNTRUSTED_MARK, "$1{{mark}}")
    .replaceAll(OWN_ID, (id, prefix: string) => numbered(id, prefix, ids));
}

function mapTexts(value: JsonValue, change: (text: string, field: string) => string, field = ""): JsonValue {
  if (typeof value === "string") return change(value, field);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change, field));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => (item === undefined ? [] : [[key, mapTexts(item, change, key)]])),
  );
}

function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  const kept = entries.filter(([key]) => key !== LEFT_OUT);
  return Object.fromEntries(kept.flatMap(([key, item]) => (item === undefined ? [] : [[key, sorted(item)]])));
}

/** Deepest first, so that a folder inside another one keeps its own name. Paths in JSON may have their backslashes doubled. */
export function withoutPlaces(text: string, places: readonly Place[]): string {
  return patternsOf(places).reduce((clean, { pattern, by }) => clean.replaceAll(pattern, by), text);
}

/** The positions of folders and keys in a text, in order, without overlap. */
export function placesAndKeys(
  text: string,
  { places, keys }: { readonly places: readonly Place[]; readonly keys: readonly string[] },
): readonly { readonly start: number; readonly end: number; readonly by: string }[] {
  const patterns = [
    ...keys.map((key) => ({ pattern: new RegExp(literal(key), "g"), by: "{{key}}" })),
    ...patternsOf(places),
  ];
  const found: { start: number; end: number; by: string }[] = [];
  for (const { pattern, by } of patterns) {
    for (const { index: start, 0: match } of text.matchAll(pattern)) {
      const end = start + match.length;
      if (!found.some((other) => start < other.end && other.start < end)) found.push({ start, end, by });
    }
  }
  return found.sort((one, other) => one.start - other.start);
}

/** Only whole path names: `/home/me/app` is not the beginning of `/home/me/apple`. */
function patternsOf(places: readonly Place[]) {
  const byDepth = places
    .filter(({ path }) => path.length > 1)
    .sort((one, other) => other.path.length - one.path.length);
  return byDepth.flatMap(({ name, path }) =>
    [...new Set([path, escaped(path)])].map((spelling) => ({
      pattern: new RegExp(`${literal(spelling)}(?![\\w.-]*\\w)`, "g"),
      by: `{{${name}}}`,
    })),
  );
}

function literal(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

export function withPlaces(text: string, places: readonly Place[]): string {
  return places.reduce((filled, { name, path }) => filled.replaceAll(`{{${name}}}`, () => escaped(path)), text);
}

function escaped(path: string): string {
  return JSON.stringify(path).slice(1, -1);
}
