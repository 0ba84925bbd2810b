/** Describes what fetching a page needs: the guard that admits addresses, and a client. */
import type { Variables } from "../base/variables.js";
import { createNetGuard } from "../security/net-guard/net-guard.js";
import { createHttpClient, type HttpClient } from "../system/http-client.js";
import type { WebGuard } from "../tools/web/web-guard.js";
import { networkOf } from "./network.js";

export interface WebServicesOptions {
  readonly variables: Variables;
  /** Hosts that may be reached although they are not on the public internet. */
  readonly webHosts?: readonly string[];
  /** Says who resolves a name behind a proxy; `check` (default) refuses names that cannot be looked up here. */
  readonly webNames?: "check" | "proxy";
}

export function webServices({ variables, webHosts = [], webNames }: WebServicesOptions): {
  readonly guard: WebGuard;
  readonly http: HttpClient;
} {
  const network = networkOf(variables);
  return {
    guard: createNetGuard({
      allowedHosts: webHosts,
      isProxied: async (url) => (await network())?.proxyFor(url) !== undefined,
      unknownNames: webNames === "proxy" ? "proxy" : "refuse",
    }),
    http: createHttpClient({ network }),
  };
}
