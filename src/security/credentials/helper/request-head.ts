/**
 * The head of a request as an engine sends it: read strictly, because what is read here is written again with a key in it.
 *
 * 1. One request line, header lines of one name and one value each, CRLF after each. Anything else is refused.
 * 2. The length of the body is given in digits, once, or there is no body. No other framing.
 */
export interface RequestHead {
  readonly method: string;
  /** Path and query as they were written. */
  readonly target: string;
  /** Names in lower case, in their order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly bodyBytes: number;
}

export const MAX_HEAD_BYTES = 64 * 1024;

const REQUEST_LINE = /^(GET|POST) (\/[\x21\x22\x24-\x5b\x5d-\x7e]*) HTTP\/1\.1$/;
const HEADER_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*$/;

/** `text` is all before the empty line, one byte a character. Undefined when it is not such a head. */
export function parseHead(text: string): RequestHead | undefined {
  const [first = "", ...lines] = text.split("\r\n");
  const request = REQUEST_LINE.exec(first);
  if (request === null) return undefined;
  const headers: [string, string][] = [];
  for (const line of lines) {
    const header = HEADER_LINE.exec(line);
    if (header === null) return undefined;
    headers.push([(header[1] ?? "").toLowerCase(), header[2] ?? ""]);
  }
  const lengths = headers.filter(([name]) => name === "content-length");
  const length = lengths[0]?.[1] ?? "0";
  const framed = headers.some(([name]) => name === "transfer-encoding");
  if (framed || lengths.length > 1 || !/^\d{1,12}$/.test(length)) return undefined;
  const [, method = "", target = ""] = request;
  return { method, target, headers, bodyBytes: Number(length) };
}

export function headerOf(head: RequestHead, name: string): string | undefined {
  return head.headers.find(([each]) => each === name)?.[1];
}

/** Headers that an engine may not set: those that authenticate, and those of one connection only. */
const NOT_FORWARDED: ReadonlySet<string> = new Set([
  ..."host connection keep-alive proxy-connection upgrade te trailer expect accept-encoding http2-settings".split(" "),
  ..."authorization proxy-authorization cookie x-api-key api-key x-goog-api-key x-auth-token".split(" "),
]);

export interface Forwarding {
  readonly host: string;
  /** They replace those of the same name. */
  readonly add: Readonly<Record<string, string>>;
  /** Put before the path, for a proxy that reads the request. */
  readonly prefix?: string;
}

/** The head as the provider gets it. */
export function forwardedHead(head: RequestHead, { host, add, prefix = "" }: Forwarding): string {
  const kept = head.headers.filter(
    ([name]) => !NOT_FORWARDED.has(name) && !name.startsWith("x-oxbow-") && !Object.hasOwn(add, name),
  );
  const lines = [["host", host] as const, ...kept, ...Object.entries(add)].map(([name, value]) => `${name}: ${value}`);
  return `${head.method} ${prefix}${head.target} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`;
}

/** Tells whether a target lies at or below a path, also after a server has taken it apart. */
export function isBelow(target: string, basePath: string): boolean {
  const path = target.split("?")[0] ?? "";
  if (/\\|\/\/|%2f|%5c/i.test(path)) return false;
  if (path.split("/").some((part) => /^(\.|%2e){1,2}$/i.test(part))) return false;
  const base = basePath.replace(/\/+$/, "");
  return path === base || path.startsWith(`${base}/`);
}
