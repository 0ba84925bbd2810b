/** Sends requests through a proxy: with a tunnel to https addresses, and with the whole address in the request line for http ones. */
import { type AgentOptions, type ClientRequestArgs, Agent as HttpAgent, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Duplex } from "node:stream";
import type { Way } from "../http-client.js";
import type { HttpError } from "../http-error.js";
import type { Network } from "./network.js";
import type { ProxyAddress } from "./proxy-address.js";
import { openTunnel, proxyRefusal, proxyUnreached, type TunnelOptions } from "./tunnel.js";

/** The agents of one client: they keep its connections. */
export class ProxiedWays {
  readonly #network: Network;
  readonly #options: AgentOptions;
  readonly #agents = new Map<string, HttpAgent>();

  constructor(network: Network, options: AgentOptions) {
    this.#network = network;
    this.#options = options;
  }

  async to(url: URL, proxy: ProxyAddress): Promise<Way> {
    return url.protocol === "https:" ? await this.#tunnelled(url, proxy) : await this.#forwarded(url, proxy);
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }

  async #tunnelled(url: URL, proxy: ProxyAddress): Promise<Way> {
    const ends = { secureContext: await this.#network.secureContext(), proxy };
    const make = (options: AgentOptions) => new TunnelAgent(options, ends);
    return {
      transport: await import("node:https"),
      agent: this.#agent(`${proxy.shown} ${url.origin}`, make),
      freshAgent: () => make({}),
      isTunnel: true,
    };
  }

  async #forwarded(url: URL, proxy: ProxyAddress): Promise<Way> {
    const secureContext = proxy.secure ? await this.#network.secureContext() : undefined;
    const make = (options: AgentOptions) => (proxy.secure ? new HttpsAgent(options) : new HttpAgent(options));
    return {
      transport: proxy.secure ? await import("node:https") : await import("node:http"),
      agent: this.#agent(proxy.shown, make),
      freshAgent: () => make({}),
      isTunnel: false,
      options: {
        protocol: proxy.secure ? "https:" : "http:",
        hostname: proxy.host,
        port: proxy.port,
        path: `${url.origin}${url.pathname}${url.search}`,
        ...(secureContext && { secureContext }),
      } as ClientRequestArgs,
      headers: {
        host: url.host,
        ...(proxy.authorization !== undefined && { "proxy-authorization": proxy.authorization }),
      },
      unreached: (error) => proxyUnreached(proxy, error),
      refusal: (answer) => refusalOf(answer, { proxy, url }),
    };
  }

  #agent(key: string, make: (options: AgentOptions) => HttpAgent): HttpAgent {
    const agent = this.#agents.get(key) ?? make(this.#options);
    this.#agents.set(key, agent);
    return agent;
  }
}

interface TunnelEnds extends TunnelOptions {
  readonly proxy: ProxyAddress;
}

class TunnelAgent extends HttpsAgent {
  readonly #ends: TunnelEnds;

  constructor(options: AgentOptions, ends: TunnelEnds) {
    super(options);
    this.#ends = ends;
  }

  /** Node waits for the callback when nothing is returned. */
  override createConnection(
    { host, port }: ClientRequestArgs,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    const { proxy } = this.#ends;
    const name = host?.includes(":") ? `[${host}]` : host;
    openTunnel(proxy, new URL(`https://${name}:${port}`), this.#ends).then(
      (socket) => callback?.(null, socket),
      (error: Error) => callback?.(error, undefined as unknown as Duplex),
    );
    return undefined;
  }
}

/** Proxies that identify themselves in their own pages. */
const OWN_PAGE = /^(squid|tinyproxy|privoxy|bluecoat|zscaler|mcafee|forcepoint|cntlm)/i;

function refusalOf(
  { statusCode = 0, statusMessage = "", headers }: IncomingMessage,
  { proxy, url }: { readonly proxy: ProxyAddress; readonly url: URL },
): HttpError | undefined {
  const isOwn =
    headers["x-squid-error"] !== undefined ||
    /\berror=/.test(String(headers["proxy-status"] ?? "")) ||
    OWN_PAGE.test(String(headers.server ?? ""));
  if (statusCode !== 407 && !(isOwn && [403, 502, 503, 504].includes(statusCode))) return undefined;
  return proxyRefusal(proxy, url.host, { status: statusCode, reason: statusMessage });
}
