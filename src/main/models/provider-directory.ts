/** The providers there are, and where each is reached (features M3, M4): built in, from the user's folder, from the profile. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Authorise } from "../../providers/authorisation.js";
import type { Endpoint } from "../../providers/http-model.js";
import { endpointOf, isReady, NAMED_PROVIDERS, type NamedProvider } from "../../providers/named.js";
import type { Roots } from "../../system/xdg-paths.js";
import type { Variables } from "../env.js";

export interface DirectoryOptions {
  readonly variables: Variables;
  /** How to be let in where no key is in the environment: stored keys, tokens. Undefined for a provider it knows nothing of. */
  readonly authoriserOf?: (provider: NamedProvider) => Authorise | undefined;
  /** Oxbow's folders; without them only what is built in. */
  readonly roots?: Pick<Roots, "config" | "state">;
  readonly tables?: ProviderTables;
  readonly builtIn?: readonly NamedProvider[];
}

/** The profile's `[providers]` as it was written, and where. */
export interface ProviderTables {
  readonly value: unknown;
  readonly file: string;
}

export type ProviderEntry =
  | { readonly kind: "http"; readonly name: string; readonly provider: NamedProvider }
  | { readonly kind: "executable"; readonly name: string; readonly file: string }
  | { readonly kind: "broken"; readonly name: string; readonly problem: string };

export class ProviderDirectory {
  readonly #options: DirectoryOptions;
  readonly #entries: ReadonlyMap<string, ProviderEntry>;

  private constructor(options: DirectoryOptions, entries: ReadonlyMap<string, ProviderEntry>) {
    this.#options = options;
    this.#entries = entries;
  }

  /** Who has no provider of their own pays one look for it. */
  static async open(options: DirectoryOptions): Promise<ProviderDirectory> {
    const { roots, tables, builtIn = NAMED_PROVIDERS } = options;
    const folder = roots && join(roots.config, "providers");
    const entries = new Map<string, ProviderEntry>(
      builtIn.map((provider) => [provider.name, { kind: "http", name: provider.name, provider }]),
    );
    if (tables?.value !== undefined || (folder !== undefined && existsSync(folder))) {
      const { ownProviders } = await import("./own-providers.js");
      for (const entry of ownProviders(folder, tables)) entries.set(entry.name, entry);
    }
    return new ProviderDirectory(options, entries);
  }

  get variables(): Variables {
    return this.#options.variables;
  }

  /** Built in first, in their order of preference, then the user's own by name. */
  list(): readonly ProviderEntry[] {
    return [...this.#entries.values()];
  }

  find(name: string): ProviderEntry | undefined {
    return this.#entries.get(name);
  }

  /** Those that are reached by HTTP. */
  reachable(): readonly NamedProvider[] {
    return this.list().flatMap((entry) => (entry.kind === "http" ? [entry.provider] : []));
  }

  endpoint(provider: NamedProvider): Endpoint {
    const { variables, authoriserOf } = this.#options;
    const endpoint = endpointOf(provider, variables);
    const authorise = endpoint.key === undefined ? authoriserOf?.(provider) : undefined;
    return authorise === undefined ? endpoint : { ...endpoint, authorise };
  }

  hasKey(provider: NamedProvider): boolean {
    const { key, authorise } = this.endpoint(provider);
    return key !== undefined || authorise !== undefined;
  }

  /** Whether a call could succeed as far as can be told without making one. */
  isReady(provider: NamedProvider): boolean {
    return isReady(provider, this.endpoint(provider));
  }
}
