/** The providers there are, and where each is reached (features M3, M4). */
import type { Authorise } from "../../providers/authorisation.js";
import type { Endpoint } from "../../providers/http-model.js";
import { endpointOf, findProvider, isReady, NAMED_PROVIDERS, type NamedProvider } from "../../providers/named.js";
import type { Variables } from "../env.js";

export interface DirectoryOptions {
  readonly variables: Variables;
  /** How to be let in where no key is in the environment: stored keys, tokens. Undefined for a provider it knows nothing of. */
  readonly authoriserOf?: (provider: NamedProvider) => Authorise | undefined;
}

export class ProviderDirectory {
  readonly #options: DirectoryOptions;

  constructor(options: DirectoryOptions) {
    this.#options = options;
  }

  list(): readonly NamedProvider[] {
    return NAMED_PROVIDERS;
  }

  find(name: string): NamedProvider | undefined {
    return findProvider(name);
  }

  endpoint(provider: NamedProvider): Endpoint {
    const { variables, authoriserOf } = this.#options;
    const endpoint = endpointOf(provider, variables);
    const authorise = endpoint.key === undefined ? authoriserOf?.(provider) : undefined;
    return authorise === undefined ? endpoint : { ...endpoint, authorise };
  }

  /** Whether a call could succeed as far as can be told without making one. */
  isReady(provider: NamedProvider): boolean {
    return isReady(provider, this.endpoint(provider));
  }
}
