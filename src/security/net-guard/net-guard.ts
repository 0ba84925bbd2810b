/**
 * Checks each URL that a model, a page or a server names, before Oxbow connects to it.
 *
 * 1. Without a proxy the connection goes to an address that was checked, and to no other.
 * 2. With a proxy the name is checked here, and the proxy looks it up again. A name with changing answers can lead the proxy to another
 *    address, and only the proxy's own rules stop that.
 */
import type { LookupFunction } from "node:net";
import { checkUrl, type RefusedUrl, type UrlVerdict } from "./check-url.js";
import { netPolicy } from "./net-policy.js";
import { type Lookup, pinnedLookup, resolveSafely } from "./resolve-safely.js";

export interface NetGuardOptions {
  /** Hosts of private networks that the user has allowed; see `net-policy.ts` for how they are written. */
  readonly allowedHosts?: readonly string[];
  readonly lookup?: Lookup;
  /** Tells whether a proxy stands between here and this address, which then looks the name up again itself. */
  readonly isProxied?: (url: URL) => Promise<boolean>;
  /** `proxy` allows names that cannot be looked up here, if a proxy is used: only the proxy can resolve them. */
  readonly unknownNames?: "refuse" | "proxy";
}

export interface Admission {
  readonly allowed: true;
  /** The URL to request, without credentials. */
  readonly url: URL;
  /** For the connection: it then goes to a checked address only. */
  readonly lookup: LookupFunction;
}

export interface NetGuard {
  /** By the address alone; nothing is looked up. */
  check(url: string): UrlVerdict;
  /** Checks the address and every address of its host. Call it for each hop; rejects only if the signal fires. */
  admit(url: string, signal: AbortSignal): Promise<Admission | RefusedUrl>;
}

/** @throws Error that names an entry of `allowedHosts` which cannot be read. */
export function createNetGuard(options: NetGuardOptions = {}): NetGuard {
  const { allowedHosts = [], lookup, isProxied, unknownNames = "refuse" } = options;
  const policy = netPolicy(allowedHosts);
  const check = (url: string) => checkUrl(url, policy);
  return {
    check,
    async admit(text, signal) {
      const verdict = check(text);
      if (!verdict.allowed) return verdict;
      const { url, host, reach } = verdict;
      const resolution = await resolveSafely(host, { reach, signal, ...(lookup !== undefined && { lookup }) });
      if (!resolution.allowed) {
        const refused: RefusedUrl = { allowed: false, problem: "refused", reason: resolution.reason };
        if (!resolution.isUnknown || !(await isProxied?.(url))) return refused;
        if (unknownNames === "proxy") return { allowed: true, url, lookup: pinnedLookup(host, []) };
        const advice = 'names are checked here before the proxy gets them, unless the setting web_names is "proxy"';
        return { ...refused, reason: `${refused.reason}; ${advice}` };
      }
      return { allowed: true, url, lookup: pinnedLookup(host, resolution.addresses) };
    },
  };
}
