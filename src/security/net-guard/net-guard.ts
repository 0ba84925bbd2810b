/** The door to the network for addresses that a model, a page or a server names (feature T8). */
import type { LookupFunction } from "node:net";
import { checkUrl, type RefusedUrl, type UrlVerdict } from "./check-url.js";
import { netPolicy } from "./net-policy.js";
import { type Lookup, pinnedLookup, resolveSafely } from "./resolve-safely.js";

export interface NetGuardOptions {
  /** Hosts of private networks that the user has allowed; see `net-policy.ts` for how they are written. */
  readonly allowedHosts?: readonly string[];
  readonly lookup?: Lookup;
}

export interface Admission {
  readonly allowed: true;
  /** What to ask for: without credentials. */
  readonly url: URL;
  /** To be handed to the connection, which then goes to a checked address and nowhere else. */
  readonly lookup: LookupFunction;
}

export interface NetGuard {
  /** By the address alone; nothing is looked up. */
  check(url: string): UrlVerdict;
  /** The address and every place its host leads to. To be asked anew for each hop; rejects only when the signal fires. */
  admit(url: string, signal: AbortSignal): Promise<Admission | RefusedUrl>;
}

/** @throws Error that names an entry of `allowedHosts` which cannot be read. */
export function createNetGuard({ allowedHosts = [], lookup }: NetGuardOptions = {}): NetGuard {
  const policy = netPolicy(allowedHosts);
  const check = (url: string) => checkUrl(url, policy);
  return {
    check,
    async admit(text, signal) {
      const verdict = check(text);
      if (!verdict.allowed) return verdict;
      const { url, host, reach } = verdict;
      const resolution = await resolveSafely(host, { reach, signal, ...(lookup !== undefined && { lookup }) });
      if (!resolution.allowed) return { allowed: false, problem: "refused", reason: resolution.reason };
      return { allowed: true, url, lookup: pinnedLookup(host, resolution.addresses) };
    },
  };
}
