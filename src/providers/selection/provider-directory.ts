/** All providers and their addresses: built in, from the user's folder, from the profile. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Variables } from "../../base/variables.js";
import type { Roots } from "../../system/xdg-paths.js";
import type { Authorise } from "../authorisation.js";
import type { Endpoint } from "../http-model.js";
import { endpointOf, isReady, NAMED_PROVIDERS, type NamedProvider } from "../named.js";

/** The part of the stored keys that providers need. */
export interface StoredKeys {
  /** Await it before any other call. */
  load(): Promise<void>;
  authorise(names: readonly string[], baseUrl: string): Authorise | undefined;
  /** Tells why a stored key cannot be used, as the beginning of a sentence. */
  reason(names: readonly string[]): string;
}

export interface DirectoryOptions {
  readonly stored: StoredKeys;
  readonly variables: Variables;
  /** Oxbow's folders; without them there are only built-in providers and no stored keys. */
  readonly roots?: Pick<Roots, "config" | "state"> & Partial<Pick<Roots, "cache">>;
  readonly tables?: ProviderTables;
  readonly builtIn?: readonly NamedProvider[];
  /** Approved providers of the project: private copies of their files. */
  readonly ofProject?: () => Promise<readonly string[]>;
  /** Programs that may be missing, because a cassette answers for them. */
  readonly onTape?: readonly string[];
  /** Wraps or replaces the authorisation: a cassette. */
  readonly aroundAccess?: (authorise: Authorise | undefined) => Authorise | undefined;
}

/** The profile's `[providers]` table, and its file. */
export interface ProviderTables {
  readonly value: unknown;
  readonly file: string;
}

export type ProviderEntry =
  | { readonly kind: "http"; readonly name: string; readonly provider: NamedProvider }
  | {
      readonly kind: "executable";
      readonly name: string;
      readonly file: string;
      /** A `.conf` file gives it another name and other settings. */
      readonly variant?: ProgramVariant;
      /** It belongs to the project: Oxbow uses it only by name, and gives it only its own variables. */
      readonly ofProject?: true;
    }
  | { readonly kind: "broken"; readonly name: string; readonly problem: string };

/** Describes what a `.conf` file with a program as its protocol says. */
export interface ProgramVariant {
  /** The file. */
  readonly origin: string;
  readonly model?: string;
  readonly url?: string;
  /** The variable that holds the key. */
  readonly keyName?: string;
  readonly description?: string;
  readonly maxOutputTokens?: number;
  readonly maxContextTokens?: number;
}

export class ProviderDirectory {
  readonly #options: DirectoryOptions;
  readonly #entries: ReadonlyMap<string, ProviderEntry>;
  readonly #stored: StoredKeys;

  private constructor(options: DirectoryOptions, entries: ReadonlyMap<string, ProviderEntry>) {
    this.#options = options;
    this.#entries = entries;
    this.#stored = options.stored;
  }

  /** Without own providers this costs one check of the folder. */
  static async open(options: DirectoryOptions): Promise<ProviderDirectory> {
    const { roots, tables, builtIn = NAMED_PROVIDERS, onTape = [] } = options;
    const folder = roots && join(roots.config, "providers");
    const entries = new Map<string, ProviderEntry>(
      builtIn.map((provider) => [provider.name, { kind: "http", name: provider.name, provider }]),
    );
    if (tables?.value !== undefined || (folder !== undefined && existsSync(folder))) {
      const { ownProviders } = await import("./own-providers.js");
      for (const entry of ownProviders(folder, tables)) entries.set(entry.name, entry);
    }
    const files = (await options.ofProject?.()) ?? [];
    if (files.length > 0) {
      const { projectProviders } = await import("./own-providers.js");
      for (const entry of projectProviders(files)) if (!entries.has(entry.name)) entries.set(entry.name, entry);
    }
    for (const name of onTape) entries.set(name, { kind: "executable", name, file: name });
    const directory = new ProviderDirectory(options, entries);
    if (roots !== undefined) await directory.#stored.load();
    return directory;
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

  /** A key in the environment overrides a stored one. */
  endpoint(provider: NamedProvider): Endpoint {
    const endpoint = endpointOf(provider, this.#options.variables);
    const isOpen = endpoint.key === undefined && (provider.keyName !== undefined || provider.signIn);
    const stored = isOpen ? this.#stored.authorise(this.keyNames(provider), endpoint.baseUrl) : undefined;
    const { aroundAccess } = this.#options;
    const authorise = isOpen && aroundAccess !== undefined ? aroundAccess(stored) : stored;
    return authorise === undefined ? endpoint : { ...endpoint, authorise };
  }

  hasKey(provider: NamedProvider): boolean {
    const { key, authorise } = this.endpoint(provider);
    return key !== undefined || authorise !== undefined;
  }

  /** The names of this provider and of others that share its key, which is stored once for all of them. */
  keyNames({ name, keyName }: NamedProvider): readonly string[] {
    const others = this.reachable().filter((other) => keyName !== undefined && other.keyName === keyName);
    return [name, ...others.map((other) => other.name).filter((other) => other !== name)];
  }

  /** Tells why a provider's stored key cannot be used, as the beginning of a sentence; usually empty. */
  keyProblem(provider: NamedProvider): string {
    return this.#stored.reason(this.keyNames(provider));
  }

  /** Tells whether a call could succeed, as far as known without making one. */
  isReady(provider: NamedProvider): boolean {
    return isReady(provider, this.endpoint(provider));
  }
}
