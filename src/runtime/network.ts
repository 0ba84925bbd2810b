/**
 * Proxies and certificate authorities of this machine: the usual variables in both letter cases, then the settings.
 *
 * 1. Without any of them, nothing is loaded and all connections are direct.
 * 2. They are read once for each environment, at the first request.
 */
import type { Variables } from "../base/variables.js";
import { VERSION } from "../base/version.js";
import type { ResolveSafely } from "../security/allowed-hosts/network-gate.js";
import type { Network, NetworkPlan } from "../system/network/network.js";
import type { Settings } from "./settings/settings.js";

export type OpenNetwork = () => Promise<Network | undefined>;

const opened = new WeakMap<Variables, Promise<Network | undefined>>();

/** For the HTTP clients of a process. */
export function networkOf(variables: Variables): OpenNetwork {
  return () => {
    const known = opened.get(variables) ?? openNetwork(variables);
    opened.set(variables, known);
    return known;
  };
}

async function openNetwork(variables: Variables): Promise<Network | undefined> {
  const plan = await readNetworkPlan(variables);
  return plan && (await import("../system/network/network.js")).openNetwork(plan);
}

/** Undefined if nothing is set. */
export async function readNetworkPlan(variables: Variables): Promise<NetworkPlan | undefined> {
  const [{ loadSettings }, { parseFlags }] = await Promise.all([
    import("./settings/settings.js"),
    import("../feature/flags.js"),
  ]);
  // Other code reports settings that cannot be read.
  const loaded = await loadSettings(parseFlags([], [], ""), variables).catch(() => undefined);
  return networkPlan(variables, loaded?.settings);
}

type NetworkSettings = Pick<Settings, "proxy" | "no_proxy" | "ca_file">;

export function networkPlan(variables: Variables, settings?: NetworkSettings): NetworkPlan | undefined {
  const proxy = settings?.proxy.value;
  const fallback =
    named(variables, "all_proxy") ?? (proxy && settings ? { value: proxy, origin: settings.proxy.origin } : undefined);
  const caFile = settings?.ca_file.value;
  const authorities = [
    ...(variables.SSL_CERT_FILE ? [{ value: variables.SSL_CERT_FILE, origin: "SSL_CERT_FILE" }] : []),
    ...(caFile && settings ? [{ value: caFile, origin: settings.ca_file.origin }] : []),
  ];
  const httpProxy = named(variables, "http_proxy") ?? fallback;
  const httpsProxy = named(variables, "https_proxy") ?? fallback;
  if (httpProxy === undefined && httpsProxy === undefined && authorities.length === 0) return undefined;
  return {
    httpProxy,
    httpsProxy,
    noProxy: named(variables, "no_proxy")?.value ?? settings?.no_proxy.value,
    authorities,
    nodeAuthorities: variables.NODE_EXTRA_CA_CERTS,
  };
}

/** The lower-case spelling wins, as in other programs. */
function named(variables: Variables, name: string): { readonly value: string; readonly origin: string } | undefined {
  const origin = [name, name.toUpperCase()].find((each) => variables[each]?.trim());
  return origin === undefined ? undefined : { value: variables[origin] ?? "", origin };
}

/** A helper with other network settings is a different helper. */
export async function helperVersion(plan: NetworkPlan | undefined): Promise<string> {
  if (plan === undefined) return VERSION;
  const { createHash } = await import("node:crypto");
  return `${VERSION}+${createHash("sha256").update(JSON.stringify(plan)).digest("hex").slice(0, 8)}`;
}

/** Behind a proxy this machine may know no names: then there is no address, and the proxy gets the name. */
export function resolverOf(network: OpenNetwork): ResolveSafely {
  return async (host) => {
    const { resolveSafely } = await import("../security/net-guard/resolve-safely.js");
    const found = await resolveSafely(host);
    if (found.allowed) return found.addresses;
    if (found.isUnknown && (await network()) !== undefined) return [];
    throw new Error(found.reason);
  };
}
