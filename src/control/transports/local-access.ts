/**
 * Who may talk to a server on this machine. Web pages in a browser run here too, and can reach it.
 *
 * 1. It listens only on loopback addresses.
 * 2. The Host header names this server: a foreign name that was made to resolve to 127.0.0.1 (DNS rebinding) is refused.
 * 3. A request with an Origin comes from a page: only this server's own and explicitly allowed ones may.
 * 4. An accepted client still needs the token. It is compared in constant time.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { isIPv4 } from "node:net";

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

/** The address to listen on; throws if other machines could reach it. */
export function loopbackAddress(host: string): string {
  // Does not ask the resolver, whose configuration may differ.
  if (host === "localhost") return "127.0.0.1";
  if (host === "::1" || host === "[::1]") return "::1";
  if (isIPv4(host) && host.startsWith("127.")) return host;
  throw new Error(
    `Refused to listen on "${host}": only 127.0.0.1, ::1 and localhost, which other machines cannot reach.`,
  );
}

/** `127.0.0.1` or `[::1]`, as in a URL. */
export function inUrl(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}

export class LocalAccess {
  readonly #hosts: ReadonlySet<string>;
  readonly #ownOrigins: ReadonlySet<string>;
  readonly #foreignOrigins: ReadonlySet<string>;
  readonly #token: Buffer | undefined;

  constructor({ address, port, token, origins }: LocalAccessOptions) {
    const names = ["127.0.0.1", "localhost", "[::1]", inUrl(address)];
    // Clients omit the default port.
    const hosts = names.flatMap((name) => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`]));
    this.#hosts = new Set(hosts);
    this.#ownOrigins = new Set(hosts.map((host) => `http://${host}`));
    this.#foreignOrigins = new Set(origins.map(asOrigin));
    this.#token = token === undefined ? undefined : digest(token);
  }

  /** Whether it is an allowed page on another address, which needs CORS headers. */
  isAllowedForeign(origin: string | undefined): origin is string {
    return origin !== undefined && this.#foreignOrigins.has(origin.toLowerCase());
  }

  refuseAddress({ host, origin }: IncomingHttpHeaders): Refusal | undefined {
    if (host === undefined || !this.#hosts.has(host.toLowerCase())) {
      return { status: 403, message: `The Host header ${quote(host)} is not this server's address.` };
    }
    if (origin === undefined || this.#ownOrigins.has(origin.toLowerCase()) || this.isAllowedForeign(origin)) {
      return undefined;
    }
    return {
      status: 403,
      message: `Pages of ${quote(origin)} may not use this server. Its "origins" option allows them.`,
    };
  }

  /** `inQuery` is the token in the address, for requests that accept it there. */
  refuseToken(headers: IncomingHttpHeaders, inQuery: string | undefined): Refusal | undefined {
    if (this.#token === undefined) return undefined;
    const bearer = /^Bearer +(.*)$/i.exec(headers.authorization ?? "")?.[1];
    const given = headers["x-oxbow-token"] ?? bearer ?? inQuery;
    if (typeof given === "string" && timingSafeEqual(digest(given), this.#token)) return undefined;
    const problem = given === undefined ? "A token is required" : "The token is wrong";
    return {
      status: 401,
      message: `${problem}: send it as "X-Oxbow-Token: TOKEN" or "Authorization: Bearer TOKEN"; for GET /events also as ?token=TOKEN.`,
    };
  }
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
