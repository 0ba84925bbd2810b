/** What `web_fetch` needs to know before it connects anywhere. `main` supplies it from `security/net-guard`. */
import type { LookupFunction } from "node:net";

export type WebAdmission =
  | {
      readonly allowed: true;
      /** What to ask for: without credentials. */
      readonly url: URL;
      /** Leads the host's name to the addresses that were checked, and no other. */
      readonly lookup: LookupFunction;
    }
  | {
      readonly allowed: false;
      /** A sentence without its full stop. */
      readonly reason: string;
    };

export interface WebGuard {
  /** By the address alone; nothing is looked up. */
  check(
    url: string,
  ): { readonly allowed: true; readonly url: URL } | { readonly allowed: false; readonly reason: string };
  /** Rejects only when the signal fires. */
  admit(url: string, signal: AbortSignal): Promise<WebAdmission>;
}
