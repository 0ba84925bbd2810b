/**
 * The opened credentials, in the helper process only.
 *
 * 1. A change of the file on the disk takes effect with the next request.
 * 2. Tokens are renewed before they end, or when the provider refuses them, once at a time, also across processes: under the file's
 *    lock, after a check whether another process has done it. It writes the new token before it uses it.
 * 3. Keys of a client's environment are kept in memory only.
 */
import { statSync } from "node:fs";
import type { Clock } from "../../../base/clock.js";
import type { HttpClient } from "../../../system/http-client.js";
import { CredentialError } from "../credential-error.js";
import { type CredentialFile, type EntryName, isSame } from "../credential-file.js";
import {
  type ApiKeyEntry,
  type CredentialEndpoint,
  type CredentialEntry,
  isLent,
  type OAuthEntry,
  REFRESH_AHEAD_MS,
  TokenRefused,
  type TokenSource,
} from "../entry.js";

export interface VaultOptions {
  readonly file: CredentialFile;
  readonly clock: Clock;
  /** Tells how a provider's tokens are renewed; loaded when some have to be. */
  readonly sourceOf: (provider: string) => Promise<TokenSource | undefined>;
  readonly http: () => Promise<HttpClient>;
}

/** Describes what a request is sent with. */
export interface Authority {
  readonly origin: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** To be removed from answers. */
  readonly secrets: readonly string[];
}

const REFRESH_MS = 30_000;
/** Refused tokens that are newer than this are not renewed again: it would not help. */
const NEW_MS = 30_000;

export class Vault {
  readonly #options: VaultOptions;
  readonly #refreshing = new Map<string, Promise<OAuthEntry>>();
  /** The access token that came last, and when, by name. */
  readonly #renewed = new Map<string, { readonly access: string; readonly at: number }>();
  #entries: readonly CredentialEntry[] = [];
  readonly #lent = new Map<string, ApiKeyEntry>();
  #seen = "";

  constructor(options: VaultOptions) {
    this.#options = options;
  }

  /** Opens the file now, to find out whether it can be. */
  async open(): Promise<void> {
    const stamp = stampOf(this.#options.file.path);
    if (stamp === this.#seen) return;
    this.#entries = await this.#options.file.read();
    this.#seen = stamp;
  }

  /** Keys that a client has in its environment. Throws if one of them is not a key. */
  lend(entries: readonly ApiKeyEntry[]): void {
    if (!entries.every(isLendable) || this.#lent.size + entries.length > MOST_LENT) throw new Error("not keys");
    for (const entry of entries) this.#lent.set(nameOf(entry), entry);
  }

  /** `refused`: the provider rejected the last token. */
  async authority(name: EntryName, token: "fresh" | "refused" = "fresh"): Promise<Authority> {
    await this.open();
    const found = this.#lent.get(nameOf(name)) ?? this.#entries.find((entry) => isSame(entry, name));
    if (found === undefined) {
      const missing = isLent(name)
        ? `The key of ${name.provider} came from the environment of a terminal and is no longer here. Resume the session in a terminal that has it, or store it:`
        : `No key is stored for ${name.provider}. Run`;
      throw new CredentialError("not-found", `${missing} 'oxbow auth set ${name.provider}'.`);
    }
    const entry = found.kind === "oauth" ? await this.#fresh(found, token) : found;
    const secret = entry.kind === "oauth" ? entry.tokens.access : entry.key;
    const extra = entry.kind === "oauth" ? entry.tokens.extra : undefined;
    return {
      origin: new URL(entry.endpoint.baseUrl),
      headers: filled(entry.endpoint, { secret, extra }),
      secrets: [secret, ...Object.values(extra ?? {})],
    };
  }

  async #fresh(entry: OAuthEntry, token: "fresh" | "refused"): Promise<OAuthEntry> {
    const useless = token === "refused" && !this.#isNew(entry);
    if (!useless && !this.#isEnding(entry)) return entry;
    const name = nameOf(entry);
    let refreshing = this.#refreshing.get(name);
    if (refreshing === undefined) {
      refreshing = this.#refresh(entry).finally(() => this.#refreshing.delete(name));
      this.#refreshing.set(name, refreshing);
    }
    try {
      return await refreshing;
    } catch (error) {
      if (error instanceof TokenRefused) throw new CredentialError("signed-out", error.message);
      // A token that has not expired is still good.
      if (!useless && (entry.tokens.expiresAt ?? 0) > this.#options.clock.wall()) return entry;
      if (error instanceof CredentialError) throw error;
      const detail = error instanceof Error ? error.message : String(error);
      throw new CredentialError("unavailable", `Oxbow could not renew the sign-in for ${entry.provider}: ${detail}`);
    }
  }

  #isEnding({ tokens: { expiresAt } }: OAuthEntry): boolean {
    return expiresAt !== undefined && expiresAt - this.#options.clock.wall() < REFRESH_AHEAD_MS;
  }

  #isNew(entry: OAuthEntry): boolean {
    const renewed = this.#renewed.get(nameOf(entry));
    return renewed?.access === entry.tokens.access && this.#options.clock.wall() - renewed.at < NEW_MS;
  }

  async #refresh(entry: OAuthEntry): Promise<OAuthEntry> {
    const { file, clock, sourceOf, http } = this.#options;
    const source = await sourceOf(entry.provider);
    if (source === undefined)
      throw new TokenRefused(`Sign in to ${entry.provider} again: oxbow auth set ${entry.provider}`);
    const client = await http();
    const abort = new AbortController();
    const cancel = clock.after(REFRESH_MS, () => abort.abort());
    try {
      return await file.change(async (entries) => {
        const current = entries.find((other) => isSame(other, entry));
        if (current?.kind !== "oauth")
          throw new CredentialError(
            "not-found",
            `The sign-in for ${entry.provider} was removed. Sign in again: oxbow auth set ${entry.provider}`,
          );
        if (!this.#isEnding(current) && current.tokens.access !== entry.tokens.access) return { result: current };
        const { tokens, endpoint } = await source.refresh(current.tokens, {
          http: client,
          signal: abort.signal,
          now: clock.wall(),
          endpoint: current.endpoint,
        });
        const renewed: OAuthEntry = { ...current, tokens, endpoint: endpoint ?? current.endpoint };
        this.#renewed.set(nameOf(renewed), { access: tokens.access, at: clock.wall() });
        return { entries: entries.map((other) => (isSame(other, entry) ? renewed : other)), result: renewed };
      });
    } finally {
      cancel();
    }
  }
}

const MOST_LENT = 1000;

function isLendable({ provider, account, endpoint, key }: ApiKeyEntry): boolean {
  const texts = [provider, account, key, endpoint?.baseUrl].every((text) => typeof text === "string" && text !== "");
  return texts && isLent({ account }) && typeof endpoint.headers === "object" && URL.canParse(endpoint.baseUrl);
}

function nameOf({ provider, account }: EntryName): string {
  return `${provider}/${account}`;
}

/** Changes with every write, because that replaces the file. */
function stampOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  return found === undefined ? "none" : `${found.ino} ${found.mtimeNs} ${found.size}`;
}

function filled(
  { headers }: CredentialEndpoint,
  { secret, extra }: { readonly secret: string; readonly extra: Readonly<Record<string, string>> | undefined },
): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, template] of Object.entries(headers)) {
    let whole = true;
    const value = template.replace(/\{(secret|extra\.([^{}]+))\}/g, (_, which: string, field: string) => {
      const found = which === "secret" ? secret : extra?.[field];
      if (found === undefined) whole = false;
      return found ?? "";
    });
    if (whole) result[name.toLowerCase()] = value;
  }
  return result;
}
