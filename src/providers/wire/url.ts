/**
 * Base URLs as people write them: with or without a trailing slash, a version, or even the whole path. A query string stays
 * (some gateways want one).
 */

/** For services whose base URL is the host: `https://host` or `https://host/v1` both lead to `/v1/…`. */
export function versionedUrl(base: string, path: string): string {
  return joined(base, path, (root) => (root.endsWith("/v1") ? root : `${root}/v1`));
}

/** For services whose base URL holds the version (`/v1`, `/openai/v1`, `/api/paas/v4`); a bare host gets `/v1`, unless it has none. */
export function compatibleUrl(base: string, path: string, dialect: { readonly unversioned?: true } = {}): string {
  return joined(base, path, (root) => (root === "" && !dialect.unversioned ? "/v1" : root));
}

/** For services without a version: a `/v1` or `/api` that the user appended is not part of the root. */
export function unversionedUrl(base: string, path: string): string {
  return joined(base, path, (root) => root.replace(/\/(v1|api)$/, ""));
}

function joined(base: string, path: string, rootOf: (root: string) => string): string {
  if (!URL.canParse(base)) return base;
  const url = new URL(base);
  const root = url.pathname.replace(/\/+$/, "");
  url.pathname = rootOf(root.endsWith(path) ? root.slice(0, -path.length) : root) + path;
  return url.href;
}

/** An address for messages: without a password or a query, which may hold a key. */
export function shownUrl(address: string): string {
  if (!URL.canParse(address)) return address;
  const { origin, pathname } = new URL(address);
  return origin + pathname;
}

/**
 * Gemini names the model in the path. The base URL may be the host, or end with a version, or be a path of Vertex AI that continues
 * after its version (`/v1/projects/…/publishers/google`).
 */
export function geminiUrl(base: string, model: string): string {
  const name = model.includes("/") ? model : `models/${model}`;
  const path = name.split("/").map(encodeURIComponent).join("/");
  return geminiPath(base, { path: `/${path}:streamGenerateContent`, query: ["alt", "sse"] });
}

/** The list of models, all on one page. */
export function geminiModelsUrl(base: string): string {
  return geminiPath(base, { path: "/models", query: ["pageSize", "1000"] });
}

function geminiPath(
  base: string,
  { path, query }: { readonly path: string; readonly query: [string, string] },
): string {
  if (!URL.canParse(base)) return base;
  const url = new URL(base);
  const root = url.pathname.replace(/\/+$/, "").replace(/\/models$/, "");
  url.pathname = (/\/v\d+(alpha|beta)?\d*(\/|$)/.test(root) ? root : `${root}/v1beta`) + path;
  url.searchParams.set(...query);
  return url.href;
}
