/**
 * A provider that the user describes: a new one, or a change to one that is known. `.conf` files and the
 * profile's `[providers.NAME]` hold the same fields.
 *
 * 1. Missing fields come from the provider of that name, else from the provider whose protocol it speaks.
 * 2. A key goes only to the host that its owner chose. Another host gets it only if the fields name the variable or the provider
 *    keeps its name.
 */
import { nearest } from "../base/nearest.js";
import type { JsonObject } from "../protocol/json.js";
import { findProvider, isSameHost, type NamedProvider } from "./named.js";

export interface ProviderFields {
  readonly protocol?: string;
  readonly description?: string;
  readonly model?: string;
  readonly url?: string;
  readonly auth_env?: string;
  readonly max_tokens?: number;
  readonly context_tokens?: number;
  readonly stream?: "always";
  readonly headers?: Readonly<Record<string, string>>;
  /** Added unchanged to every request's body. */
  readonly body?: JsonObject;
}

export type FieldName = keyof ProviderFields;

/** Describes what is wrong with a provider's description; the message says what was expected. */
export class FieldError extends Error {}

const FIELD_NAMES: readonly FieldName[] = [
  "protocol",
  "description",
  "model",
  "url",
  "auth_env",
  "max_tokens",
  "context_tokens",
  "stream",
  "headers",
  "body",
];

const PROTOCOL_NAMES = "anthropic, openai, openai-responses, gemini or ollama";
const PROTOCOLS: Readonly<Record<string, string>> = { "openai-chat": "openai" };

/** One checked value. `programs` are the provider programs whose protocol it may name. */
export function readField(name: string, text: string, programs: readonly string[] = []): ProviderFields {
  switch (name) {
    case "protocol":
      return { protocol: programs.includes(text) ? text : readProtocol(text, programs) };
    case "description":
    case "model":
      return { [name]: filled(text) };
    case "url":
      return { url: readUrl(text) };
    case "auth_env":
      if (!/^[A-Za-z_]\w*$/.test(text)) throw new FieldError(expected("the name of a variable, such as ACME_API_KEY"));
      return { auth_env: text };
    case "max_tokens":
    case "context_tokens":
      if (!/^[1-9]\d*$/.test(text)) throw new FieldError(expected("a whole number from 1", text));
      return { [name]: Number(text) };
    case "stream":
      if (text !== "always") throw new FieldError(expected("always (answers are always streamed)", text));
      return { stream: text };
  }
  if (/^headers?$/i.test(name)) throw new FieldError("write each header by itself: header.NAME=VALUE.");
  if (name === "body") throw new FieldError("write a body in config.toml: [providers.NAME.body].");
  const known = FIELD_NAMES.filter((field) => field !== "body" && field !== "headers");
  const near = nearest(name, known);
  const advice = near === undefined ? `There are ${known.join(", ")} and header.NAME.` : `Did you mean ${near}?`;
  throw new FieldError(`there is no field "${name}". ${advice}`);
}

export function readHeader(name: string, value: string): Readonly<Record<string, string>> {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) throw new FieldError(`"${name}" is not the name of a header.`);
  if (/[^\P{Cc}\t]/u.test(value)) throw new FieldError(`the header ${name} must be one line.`);
  return { [name.toLowerCase()]: value };
}

/** The provider that results from the fields. `origin` is where they are defined. */
export function ownProvider(
  name: string,
  fields: ProviderFields,
  { base = findProvider(name), origin }: { readonly base?: NamedProvider | undefined; readonly origin: string },
): NamedProvider {
  const protocolProvider = fields.protocol === undefined ? undefined : findProvider(fields.protocol);
  const from = base === undefined ? protocolProvider : speaking(base, protocolProvider);
  if (from === undefined) throw new FieldError(`the new provider '${name}' needs a protocol: ${PROTOCOL_NAMES}.`);
  const moved = fields.url !== undefined && !isSameHost(fields.url, from.baseUrl);
  const renamed = base === undefined;
  const { keyName: usualKey, keyOptional, baseUrlName, baseUrlAbout, sharedUrlName, modelNames, owner, ...rest } = from;
  const keyName = fields.auth_env ?? (moved && renamed ? undefined : usualKey);
  const optional = fields.auth_env === undefined && (keyOptional === true || moved);
  return {
    ...rest,
    name,
    origin,
    family: moved ? movedFamily(name, from) : (rest.family ?? from.name),
    ...(keyName !== undefined && { keyName }),
    ...(keyName !== undefined && optional && { keyOptional: true }),
    ...(fields.url === undefined ? !renamed && { baseUrlName, baseUrlAbout, sharedUrlName } : { baseUrl: fields.url }),
    ...(!renamed && modelNames !== undefined && { modelNames }),
    ...(fields.description !== undefined && { description: fields.description }),
    ...(fields.model !== undefined && { defaultModel: fields.model }),
    ...(fields.max_tokens !== undefined && { maxOutputTokens: fields.max_tokens }),
    ...(fields.context_tokens !== undefined && { maxContextTokens: fields.context_tokens }),
    ...(fields.headers !== undefined && { headers: { ...from.headers, ...fields.headers } }),
    ...(fields.body !== undefined && { extra: { ...from.extra, ...fields.body } }),
  };
}

function speaking(base: NamedProvider, protocolProvider: NamedProvider | undefined): NamedProvider {
  if (protocolProvider === undefined || protocolProvider.wire === base.wire) return base;
  const { dialect, headersOf, ...rest } = base;
  return { ...rest, wire: protocolProvider.wire };
}

/** Another server behind a service's name does not support the service's newest fields. */
function movedFamily(name: string, { name: usual, wire }: NamedProvider): string {
  return name === usual && wire.startsWith("openai") ? `${name}-compatible` : name;
}

function readProtocol(text: string, programs: readonly string[]): string {
  const name = PROTOCOLS[text] ?? text;
  const others = programs.length === 0 ? "" : `, or the program ${programs.join(" or ")}`;
  if (findProvider(name) === undefined) throw new FieldError(expected(`${PROTOCOL_NAMES}${others}`, text));
  return name;
}

/** Accepts the full address of a call too, and removes the path of the call. */
function readUrl(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    throw new FieldError(expected("an address that begins with http:// or https://", text));
  }
  const url = new URL(text);
  url.pathname = url.pathname.replace(/\/(chat\/completions|responses|messages|api\/chat)\/*$/, "");
  return url.href.replace(/\/$/, "");
}

function filled(text: string): string {
  if (text.trim() === "") throw new FieldError("it is empty.");
  return text;
}

function expected(what: string, got?: string): string {
  return got === undefined ? `expected ${what}.` : `expected ${what}, got "${got}".`;
}
