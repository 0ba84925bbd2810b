/** How commands reach the hosts that the profile allows (`sandbox_hosts`). */
import type { ResolveSafely } from "../../security/sandbox/network-gate.js";
import type { OpenNetwork } from "../network.js";

/** Behind a proxy this machine may know no names: then there is no address, and the proxy gets the name. */
export function resolverOf(network: OpenNetwork): ResolveSafely {
  return async (host) => {
    const { resolveSafely } = await import("../../security/net-guard/resolve-safely.js");
    const found = await resolveSafely(host);
    if (found.allowed) return found.addresses;
    if (found.isUnknown && (await network()) !== undefined) return [];
    throw new Error(found.reason);
  };
}
