/**
 * The HTTP client of a sign-in. A server names the addresses of its sign-in, so it could name any.
 *
 * 1. Beside the server's own address, addresses of private networks are reached only if the user's settings (`web_hosts`) allow them, and
 *    those of this machine if the server is on it. Without a proxy the connection goes to an address that was checked.
 * 2. Codes and tokens are sent encrypted, except to this machine.
 */
import type { Variables } from "../../base/variables.js";
import { createNetGuard } from "../../security/net-guard/net-guard.js";
import { createHttpClient, type HttpClient } from "../../system/http-client.js";
import { nodeClock } from "../../system/node-clock.js";
import { networkOf } from "../network.js";

export interface SignInHttpOptions {
  /** Of the server. */
  readonly url: string;
  readonly variables: Variables;
  readonly webHosts: readonly string[];
  readonly webNames: "check" | "proxy";
}

const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

export function signInHttp({ url, variables, webHosts, webNames }: SignInHttpOptions): HttpClient {
  const network = networkOf(variables);
  const http = createHttpClient({ clock: nodeClock, network });
  const own = new URL(url);
  const isLocal = LOOPBACK.has(own.hostname);
  const guard = createNetGuard({
    allowedHosts: [...webHosts, ...(isLocal ? LOOPBACK : [])],
    isProxied: async (address) => (await network())?.proxyFor(address) !== undefined,
    unknownNames: webNames === "proxy" ? "proxy" : "refuse",
  });
  return {
    request: async (request) => {
      const asked = new URL(request.url);
      // The user has named this one.
      if (asked.origin === own.origin) return http.request(request);
      if (asked.protocol !== "https:" && !LOOPBACK.has(asked.hostname))
        throw new Error(`The server names ${asked.origin} for its sign-in, which is not encrypted.`);
      const admitted = await guard.admit(asked.href, request.signal ?? new AbortController().signal);
      if (!admitted.allowed)
        throw new Error(
          `The server names ${asked.origin} for its sign-in, which is refused: ${admitted.reason}. If you trust it, add the host to web_hosts.`,
        );
      const proxied = (await network())?.proxyFor(asked) !== undefined;
      return http.request({ ...request, ...(!proxied && { lookup: admitted.lookup }) });
    },
    close: () => http.close(),
  };
}
