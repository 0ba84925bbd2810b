/**
 * Decides who may talk to a server on this machine. Web pages in a browser run here too, and can reach it.
 *
 * 1. The simple server listens only on loopback addresses.
 * 2. The Host header names this server: a foreign name that was made to resolve to 127.0.0.1 (DNS rebinding) is refused.
 * 3. A request with an Origin comes from a page: only this server's own and explicitly allowed ones may.
 * 4. An accepted client still needs the token. It is compared in constant time.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { isIPv4 } from "node:net";

export interface AddressOptions {
  /** Names of the server as they stand in a URL: `127.0.0.1`, `[::1]`, `example.com`. */
  readonly names: readonly string[];
  /** Other names that it answers to, such as those of its certificate. */
  readonly isAlsoNamed?: (name: string) => boolean;
  readonly port: number;
  readonly scheme?: "http" | "https";
  readonly origins: readonly string[];
}

export interface LocalAccessOptions {
  /** A loopback address; see `loopbackAddress`. */
  readonly address: string;
  readonly port: number;
  /** Absent if the server requires none. */
  readonly token?: string;
  readonly origins: readonly string[];
}

export interface Refusal {
  readonly status: 401 | 403;
  readonly message: string;
}

const LOOPBACK_NAMES = ["127.0.0.1", "localhost", "[::1]"];

/** The address to listen on; throws if other machines could reach it. */
export function loopbackAddress(host: string): string {
  const address = asLoopback(host);
  if (address !== undefined) return address;
  throw new Error(
    `Refused to listen on "${host}": only 127.0.0.1, ::1 and localhost, which other machines cannot reach.`,
  );
}

/** The loopback address that a name stands for; undefined if other machines can reach it. */
export function asLoopback(host: string): string | undefined {
  // Does not ask the resolver, whose configuration may differ.
  if (host === "localhost") return "127.0.0.1";
  if (host === "::1" || host === "[::1]") return "::1";
  return isIPv4(host) && host.startsWith("127.") ? host : undefined;
}

/** `127.0.0.1` or `[::1]`, as in a URL. */
export function inUrl(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}

/** The addresses that a server answers to, and the pages that may use it. */
export class AddressCheck {
  readonly #options: AddressOptions;
  readonly #names: ReadonlySet<string>;
  readonly #scheme: "http" | "https";
  readonly #foreignOrigins: ReadonlySet<string>;

  constructor(options: AddressOptions) {
    this.#options = options;
    this.#names = new Set([...LOOPBACK_NAMES, ...options.names.map((name) => name.toLowerCase())]);
    this.#scheme = options.scheme ?? "http";
    this.#foreignOrigins = new Set(options.origins.map(asOrigin));
  }

  /** Tells whether it is an allowed page on another address, which needs CORS headers. */
  isAllowedForeign(origin: string | undefined): origin is string {
    return origin !== undefined && this.#foreignOrigins.has(origin.toLowerCase());
  }

  refuse({ host, origin }: IncomingHttpHeaders): Refusal | undefined {
    if (host === undefined || !this.#isOwn(host.toLowerCase())) {
      return { status: 403, message: `The Host header ${quote(host)} is not this server's address.` };
    }
    if (origin === undefined || this.#isOwnOrigin(origin.toLowerCase()) || this.isAllowedForeign(origin)) {
      return undefined;
    }
    return {
      status: 403,
      message: `Pages of ${quote(origin)} may not use this server. Its "origins" option allows them.`,
    };
  }

  #isOwn(host: string): boolean {
    const defaultPort = this.#scheme === "http" ? 80 : 443;
    const [, name, port] = /^(\[[0-9a-f:.]+\]|[^:[\]/@\s]+)(?::(\d{1,5}))?$/.exec(host) ?? [];
    // Clients omit the default port.
    if (name === undefined || Number(port ?? defaultPort) !== this.#options.port) return false;
    return this.#names.has(name) || this.#options.isAlsoNamed?.(name) === true;
  }

  #isOwnOrigin(origin: string): boolean {
    const start = `${this.#scheme}://`;
    return origin.startsWith(start) && this.#isOwn(origin.slice(start.length));
  }
}

/** They decide who asks, for what, and where a request ends. Two programs could take each its own of two. */
const SINGLE: ReadonlySet<string> = new Set([
  ...["host", "origin", "authorization", "x-oxbow-token", "x-oxbow-client"],
  ...["content-length", "transfer-encoding", "content-type", "last-event-id"],
]);

/** Tells why a request with a repeated header is refused; Node.js keeps the first one or joins them. A token has two headers that may hold it. */
export function repeatedHeader(rawHeaders: readonly string[]): string | undefined {
  const seen = new Map<string, string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? "";
    if (!SINGLE.has(name)) continue;
    if (seen.has(name)) return `The request has two ${name} headers.`;
    seen.set(name, rawHeaders[index + 1]?.trim() ?? "");
  }
  const own = seen.get("x-oxbow-token");
  const bearer = bearerToken({ authorization: seen.get("authorization") })?.trim();
  const isDoubtful = own !== undefined && bearer !== undefined && own !== bearer;
  return isDoubtful ? "The request has two different tokens, in x-oxbow-token and in authorization." : undefined;
}

/** `//name` and `http://name/` would be another host, and what is no address at all would fail where it is parsed. */
export function isPath(url: string): boolean {
  return url.startsWith("/") && !url.startsWith("//") && URL.canParse(url, "http://localhost");
}

export class LocalAccess {
  readonly #address: AddressCheck;
  readonly #token: Buffer | undefined;

  constructor({ address, port, token, origins }: LocalAccessOptions) {
    this.#address = new AddressCheck({ names: [inUrl(address)], port, origins });
    this.#token = token === undefined ? undefined : digest(token);
  }

  isAllowedForeign(origin: string | undefined): origin is string {
    return this.#address.isAllowedForeign(origin);
  }

  refuseAddress(headers: IncomingHttpHeaders): Refusal | undefined {
    return this.#address.refuse(headers);
  }

  /** `inQuery` is the token in the address, for requests that accept it there. */
  refuseToken(headers: IncomingHttpHeaders, inQuery: string | undefined): Refusal | undefined {
    if (this.#token === undefined) return undefined;
    const given = headers["x-oxbow-token"] ?? bearerToken(headers) ?? inQuery;
    if (typeof given === "string" && timingSafeEqual(digest(given), this.#token)) return undefined;
    const problem = given === undefined ? "A token is required" : "The token is wrong";
    return {
      status: 401,
      message: `${problem}: send it as "X-Oxbow-Token: TOKEN" or "Authorization: Bearer TOKEN"; for GET /events also as ?token=TOKEN.`,
    };
  }
}

export function bearerToken({ authorization }: Pick<IncomingHttpHeaders, "authorization">): string | undefined {
  return /^Bearer +(.*)$/i.exec(authorization ?? "")?.[1];
}

function asOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url.origin;
  throw new Error(`${quote(text)} is not an origin such as http://localhost:5173.`);
}

/** Both sides of a comparison get the same length. */
function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

function quote(text: string | undefined): string {
  return text === undefined ? "(none)" : JSON.stringify(text.slice(0, 200));
}
