/** The connection to a provider. */
import { connect as connectPlain, type Socket } from "node:net";

export async function connectTo(origin: URL): Promise<Socket> {
  const host = origin.hostname.replace(/^\[|\]$/g, "");
  const secure = origin.protocol === "https:";
  const port = Number(origin.port || (secure ? 443 : 80));
  if (!secure) return connectPlain({ host, port, noDelay: true });
  const { connect } = await import("node:tls");
  // An address is not a name: servers would refuse it as one.
  const servername = /^[\d.]+$|:/.test(host) ? "" : host;
  return connect({ host, port, servername, ALPNProtocols: ["http/1.1"] }).setNoDelay(true);
}
