/**
 * Search engines with an API: how each is asked, and what it found.
 *
 * 1. A key goes only to the engine's own address.
 * 2. An answer is text from outside: only its titles, addresses and excerpts are used, each cut.
 */
import { isJsonObject, type JsonObject } from "../../protocol/json.js";
import type { HttpClient } from "../../system/http-client.js";
import { FetchError } from "./fetch-error.js";

export interface FoundPage {
  readonly title: string;
  readonly url: string;
  readonly excerpt: string;
  /** The passages of an answer that rest on it. */
  readonly cites?: readonly string[];
}

export interface SearchEngine {
  readonly name: string;
  readonly baseUrl: string;
  /** The variable with its key, and the headers that carry it; absent: it needs none. */
  readonly key?: { readonly variable: string; readonly headers: (key: string) => Readonly<Record<string, string>> };
  ask(query: string, count: number): { readonly path: string; readonly body?: JsonObject };
  /** The list of results in its answer. */
  results(answer: JsonObject): unknown;
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const inQuery = (fields: Readonly<Record<string, string>>) => `?${new URLSearchParams(fields)}`;

/** Engines at one address, by the name in the setting. */
export const SEARCH_ENGINES = {
  brave: {
    name: "brave",
    baseUrl: "https://api.search.brave.com",
    key: { variable: "BRAVE_API_KEY", headers: (key) => ({ "x-subscription-token": key }) },
    ask: (query, count) => ({ path: `/res/v1/web/search${inQuery({ q: query, count: String(count) })}` }),
    results: ({ web }) => (isJsonObject(web) ? web.results : undefined),
  },
  tavily: {
    name: "tavily",
    baseUrl: "https://api.tavily.com",
    key: { variable: "TAVILY_API_KEY", headers: bearer },
    ask: (query, count) => ({ path: "/search", body: { query, max_results: count } }),
    results: ({ results }) => results,
  },
} as const satisfies Readonly<Record<string, SearchEngine>>;

export function searxng(baseUrl: string): SearchEngine {
  return {
    name: "searxng",
    baseUrl: baseUrl.replace(/\/+$/, ""),
    ask: (query) => ({ path: `/search${inQuery({ q: query, format: "json" })}` }),
    results: ({ results }) => results,
  };
}

const TIMEOUTS = { connectMs: 10_000, idleMs: 20_000 } as const;
const ANSWER_BYTES = 4 * 1024 * 1024;
const LONGEST_EXCERPT = 600;
const LONGEST_LINE = 300;

export interface EngineAccess {
  /** Sends the requests; it adds a stored key itself. */
  readonly http: HttpClient;
  readonly headers: Readonly<Record<string, string>>;
}

export async function searchWith(
  engine: SearchEngine,
  { query, count }: { readonly query: string; readonly count: number },
  { http, headers, signal }: EngineAccess & { readonly signal: AbortSignal },
): Promise<readonly FoundPage[]> {
  const { path, body } = engine.ask(query, count);
  const response = await http.request({
    method: body === undefined ? "GET" : "POST",
    url: `${engine.baseUrl}${path}`,
    headers: { accept: "application/json", ...(body && { "content-type": "application/json" }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
    signal,
    timeouts: TIMEOUTS,
  });
  const { status } = response;
  const text = await response.text(ANSWER_BYTES);
  if (status !== 200) throw new FetchError(`${engine.name} answered HTTP ${status}.${adviceFor(status, engine)}`);
  const results = engine.results(parsed(text, engine));
  const pages = (Array.isArray(results) ? results : []).filter(isJsonObject).map(pageOf);
  return pages.filter(({ url }) => /^https?:\/\//i.test(url)).slice(0, count);
}

function adviceFor(status: number, { name, key }: SearchEngine): string {
  if (status === 429) return " It takes no more searches now: wait, or go on without.";
  if (status === 401 || status === 403) {
    return key === undefined
      ? " The user must allow its JSON format: 'formats: [html, json]' in its settings.yml."
      : ` The user must check its key (${key.variable}, or 'oxbow auth set ${name}').`;
  }
  return "";
}

function parsed(text: string, { name }: SearchEngine): JsonObject {
  try {
    const answer: unknown = JSON.parse(text);
    if (isJsonObject(answer)) return answer;
  } catch {
    // The message below says it.
  }
  throw new FetchError(`${name} did not answer with JSON.`);
}

function pageOf({ title, url, content, description }: JsonObject): FoundPage {
  return foundPage({ title, url, excerpt: content ?? description });
}

export function foundPage({
  title,
  url,
  excerpt,
  cites,
}: { readonly [field in "title" | "url" | "excerpt"]?: unknown } & Pick<FoundPage, "cites">): FoundPage {
  return {
    title: plain(title, LONGEST_LINE),
    url: plain(url, 2000),
    excerpt: plain(excerpt, LONGEST_EXCERPT),
    ...(cites && { cites }),
  };
}

/** One line without the tags that mark found words. */
function plain(value: unknown, most: number): string {
  const text = typeof value === "string" ? value.replaceAll(/<\/?(?:strong|b|em|mark)>/gi, "") : "";
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most)}…` : line;
}
