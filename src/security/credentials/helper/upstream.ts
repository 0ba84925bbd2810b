/** The connection to a provider: direct, or through a proxy. */
import { connect as connectPlain, isIP, type Socket } from "node:net";
import { HttpError } from "../../../system/http-error.js";
import type { Network } from "../../../system/network/network.js";

export interface Upstream {
  readonly socket: Socket;
  /** It is connected, TLS included. Otherwise an event tells when it is. */
  readonly isReady: boolean;
  /** The place where a proxy reads the requests: they name the whole address, and carry these headers. */
  readonly forwarded?: { readonly headers: Readonly<Record<string, string>> };
}

/** Undefined: everything is reached directly. */
export type UpstreamNetwork = () => Promise<Network | undefined>;

/** Rejects with an HttpError if a proxy refuses. */
export function connector(network: UpstreamNetwork | undefined): (origin: URL) => Promise<Upstream> {
  return (origin) =>
    connectBy(origin, network).catch((error: Error) => {
      if (error.name !== "NetworkSettingError") throw error;
      throw new HttpError("connect", error.message.replace(/\.$/, ""), "ERR_NETWORK_SETTING");
    });
}

async function connectBy(origin: URL, network: UpstreamNetwork | undefined): Promise<Upstream> {
  const ways = await network?.();
  const proxy = ways?.proxyFor(origin);
  if (ways === undefined || proxy === undefined) return { socket: await connectTo(origin, ways), isReady: false };
  const [{ connectToProxy, openTunnel }, secureContext] = await Promise.all([
    import("../../../system/network/tunnel.js"),
    ways.secureContext(),
  ]);
  if (origin.protocol === "https:")
    return { socket: await openTunnel(proxy, origin, { secureContext }), isReady: true };
  const { authorization } = proxy;
  return {
    socket: await connectToProxy(proxy, { secureContext }),
    isReady: true,
    forwarded: { headers: authorization === undefined ? {} : { "proxy-authorization": authorization } },
  };
}

async function connectTo(origin: URL, ways: Network | undefined): Promise<Socket> {
  const host = origin.hostname.replace(/^\[|\]$/g, "");
  const secure = origin.protocol === "https:";
  const port = Number(origin.port || (secure ? 443 : 80));
  if (!secure) return connectPlain({ host, port, noDelay: true });
  const { connect } = await import("node:tls");
  // Servers refuse an IP address as a server name.
  const servername = isIP(host) === 0 ? host : "";
  const secureContext = await ways?.secureContext();
  const options = { host, port, servername, ALPNProtocols: ["http/1.1"], ...(secureContext && { secureContext }) };
  return connect(options).setNoDelay(true);
}
