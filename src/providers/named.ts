/**
 * Providers by name, as data: a service that speaks a known wire needs only a row. Nothing here reads the environment; callers pass
 * it in.
 */
import type { JsonObject } from "../protocol/json.js";
import { noteSecret } from "../system/own-secrets.js";
import type { Endpoint } from "./http-model.js";
import { NAMED_PROVIDERS } from "./named-rows.js";
import type { Dialect, Wire } from "./wire/wire.js";

export { NAMED_PROVIDERS } from "./named-rows.js";

export type WireName = "anthropic" | "openai-chat" | "openai-responses" | "gemini" | "ollama";

export interface NamedProvider {
  readonly name: string;
  readonly wire: WireName;
  readonly baseUrl: string;
  /** One line for people, where the name does not say it. */
  readonly description?: string;
  /** Variable that holds the key; absent when none is needed. */
  readonly keyName?: string;
  /** Requests carry the key if there is one, and work without it. */
  readonly keyOptional?: true;
  /** Uses a sign-in with an account (`oxbow auth set NAME`). */
  readonly signIn?: true;
  /** Variable that names another address, and what people should know of it. */
  readonly baseUrlName?: string;
  readonly baseUrlAbout?: string;
  /** Another provider's variable that also sets this address: a key for one address is never sent to another. */
  readonly sharedUrlName?: string;
  /** Models of one family accept each other's thinking; default: the provider's name. */
  readonly family?: string;
  /** A local server, detected by a request. */
  readonly local?: true;
  /** `*` stands for the newest version in the catalogue: `claude-sonnet-*`. */
  readonly defaultModel?: string;
  /** Names that only this provider's models have. */
  readonly modelNames?: RegExp;
  /** The owner that such a server gives for its models; it distinguishes kinds of servers that use one port. */
  readonly owner?: RegExp;
  readonly maxOutputTokens?: number;
  readonly maxContextTokens?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly headersOf?: Endpoint["headersOf"];
  readonly dialect?: Dialect;
  readonly extra?: JsonObject;
  /** The provider with the same models that answers when this one refuses the sign-in, if it is set up. */
  readonly standIn?: string;
  /** The file that defines it; absent for a built-in provider. */
  readonly origin?: string;
}

export function findProvider(name: string): NamedProvider | undefined {
  return NAMED_PROVIDERS.find((provider) => provider.name === name);
}

export function endpointOf(provider: NamedProvider, variables: Readonly<Record<string, string | undefined>>): Endpoint {
  const names = [provider.baseUrlName, provider.sharedUrlName];
  const given = names.map((name) => (name === undefined ? "" : (variables[name] ?? "").trim())).find(Boolean) ?? "";
  const baseUrl = given === "" ? provider.baseUrl : provider.wire === "ollama" ? ollamaUrl(given) : given;
  const key = provider.keyName === undefined ? "" : (variables[provider.keyName] ?? "").trim();
  noteSecret(key);
  return {
    provider: provider.name,
    family: familyOf(provider, baseUrl),
    baseUrl,
    local: provider.local === true || isLoopback(baseUrl),
    ...(key !== "" && { key }),
    ...keySource(provider),
    ...(provider.headers !== undefined && { headers: provider.headers }),
    ...(provider.headersOf !== undefined && { headersOf: provider.headersOf }),
    ...(provider.dialect !== undefined && { dialect: provider.dialect }),
    ...(provider.maxOutputTokens !== undefined && { maxOutputTokens: provider.maxOutputTokens }),
    ...(provider.extra !== undefined && { extra: provider.extra }),
  };
}

function keySource({ keyName, origin }: NamedProvider): Pick<Endpoint, "keyName"> {
  if (keyName !== undefined) return { keyName };
  return origin === undefined ? {} : { keyName: `'auth_env', which is missing in ${origin}` };
}

/** Tells whether a call could succeed, as far as known without making one. A local server may need no key. */
export function isReady(provider: NamedProvider, endpoint: Endpoint): boolean {
  if (provider.signIn && provider.keyName === undefined) return endpoint.authorise !== undefined;
  return (
    provider.keyName === undefined ||
    provider.keyOptional === true ||
    provider.local === true ||
    endpoint.key !== undefined ||
    endpoint.authorise !== undefined ||
    !isSameHost(endpoint.baseUrl, provider.baseUrl)
  );
}

/** Another server behind a provider's name is not that provider: it supports neither its thinking nor its newest fields. */
function familyOf(provider: NamedProvider, baseUrl: string): string {
  const family = provider.family ?? provider.name;
  const isOpenAi = provider.wire === "openai-chat" || provider.wire === "openai-responses";
  return isOpenAi && !isSameHost(baseUrl, provider.baseUrl) ? `${family}-compatible` : family;
}

/** `OLLAMA_HOST` is also what the server listens on, so it may lack a scheme and a port, or name every interface. */
export function ollamaUrl(host: string): string {
  const text = host.includes("://") ? host : `http://${host.startsWith(":") ? `127.0.0.1${host}` : host}`;
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = "127.0.0.1";
  const withPort = /:\d+$/.test(text.replace(/^\w+:\/\//, "").split("/")[0] ?? "");
  if (!withPort && !host.includes("://")) url.port = "11434";
  return url.href.replace(/\/$/, "");
}

export function isSameHost(one: string, other: string): boolean {
  return URL.canParse(one) && URL.canParse(other) && new URL(one).host === new URL(other).host;
}

export function isLoopback(baseUrl: string): boolean {
  if (!URL.canParse(baseUrl)) return false;
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(baseUrl).hostname);
}

/** Loads only the wire that the provider uses. */
export async function loadWire(name: WireName): Promise<Wire<unknown>> {
  switch (name) {
    case "anthropic":
      return (await import("./wire/anthropic.js")).anthropic;
    case "openai-chat":
      return (await import("./wire/openai-chat.js")).openaiChat;
    case "openai-responses":
      return (await import("./wire/openai-responses.js")).openaiResponses;
    case "gemini":
      return (await import("./wire/gemini.js")).gemini;
    case "ollama":
      return (await import("./wire/ollama.js")).ollama;
  }
}
