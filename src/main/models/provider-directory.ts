/** The providers there are, and where each is reached (features M3, M4). */
import type { Endpoint } from "../../providers/http-model.js";
import { endpointOf, findProvider, isReady, NAMED_PROVIDERS, type NamedProvider } from "../../providers/named.js";
import type { Variables } from "../env.js";

export class ProviderDirectory {
  readonly #variables: Variables;

  constructor(variables: Variables) {
    this.#variables = variables;
  }

  list(): readonly NamedProvider[] {
    return NAMED_PROVIDERS;
  }

  find(name: string): NamedProvider | undefined {
    return findProvider(name);
  }

  endpoint(provider: NamedProvider): Endpoint {
    return endpointOf(provider, this.#variables);
  }

  /** Whether a call could succeed as far as can be told without making one. */
  isReady(provider: NamedProvider): boolean {
    return isReady(provider, this.endpoint(provider));
  }
}
