/** Describes what `web_fetch` needs to know before it connects anywhere. The runtime supplies it from `security/net-guard`. */
import type { LookupFunction } from "node:net";

export type WebAdmission =
  | {
      readonly allowed: true;
      /** The address to fetch, without credentials. */
      readonly url: URL;
      /** Resolves the host only to the addresses that were checked. */
      readonly lookup: LookupFunction;
    }
  | {
      readonly allowed: false;
      /** A sentence without its full stop. */
      readonly reason: string;
    };

export interface WebGuard {
  /** Checks the address alone, without a DNS lookup. */
  check(
    url: string,
  ): { readonly allowed: true; readonly url: URL } | { readonly allowed: false; readonly reason: string };
  /** Rejects only when the signal fires. */
  admit(url: string, signal: AbortSignal): Promise<WebAdmission>;
}
