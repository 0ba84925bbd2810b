/**
 * The sign-in to one server (OAuth 2.1 with PKCE), for the command that makes it. No session uses this: the helper keeps the tokens.
 */
import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";

export interface SignInAnswer {
  readonly code: string;
  readonly issuer?: string;
}

export interface OAuthClientOptions {
  readonly redirectUrl: string;
  readonly scope?: string | undefined;
  /** An address that describes this client, for servers that do without registration. */
  readonly clientMetadataUrl?: string | undefined;
  /** A client that is registered already. */
  readonly client?: { readonly id: string; readonly secret?: string | undefined } | undefined;
  readonly newState: () => string;
  /** Shows the person the address, and waits for what the browser comes back with. */
  readonly authorize: (url: URL, state: string) => Promise<SignInAnswer>;
}

export class OAuthClient implements OAuthClientProvider {
  readonly #options: OAuthClientOptions;
  readonly clientMetadataUrl?: string;
  #client: StoredOAuthClientInformation | undefined;
  #tokens: StoredOAuthTokens | undefined;
  #verifier = "";
  #state = "";
  /** Of the sign-in that is under way: a later one looks again, because a server may have moved to another one. */
  #discovery: OAuthDiscoveryState | undefined;
  #discovered: OAuthDiscoveryState | undefined;
  #answer: Promise<SignInAnswer> | undefined;

  constructor(options: OAuthClientOptions) {
    this.#options = options;
    if (options.clientMetadataUrl !== undefined) this.clientMetadataUrl = options.clientMetadataUrl;
    const { client } = options;
    if (client !== undefined)
      this.#client = { client_id: client.id, ...(client.secret !== undefined && { client_secret: client.secret }) };
  }

  get redirectUrl(): string {
    return this.#options.redirectUrl;
  }

  get clientMetadata(): OAuthClientMetadata {
    const { redirectUrl, scope, client } = this.#options;
    return {
      client_name: "Oxbow",
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: client?.secret === undefined ? "none" : "client_secret_basic",
      ...(scope !== undefined && { scope }),
    };
  }

  state(): string {
    this.#state = this.#options.newState();
    return this.#state;
  }

  clientInformation(): StoredOAuthClientInformation | undefined {
    return this.#client;
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.#client = client;
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.#tokens;
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.#tokens = tokens;
    this.#discovery = undefined;
  }

  /** Finds where the newest tokens are from. */
  get discovered(): OAuthDiscoveryState | undefined {
    return this.#discovered;
  }

  redirectToAuthorization(url: URL): void {
    this.#answer = this.#options.authorize(url, this.#state);
    this.#answer.catch(() => {});
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
    this.#discovered = state;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }

  invalidateCredentials(scope: "all" | "client" | "tokens" | "verifier" | "discovery"): void {
    if (scope === "all" || scope === "client") this.#client = undefined;
    if (scope === "all" || scope === "tokens") this.#tokens = undefined;
    if (scope === "all" || scope === "discovery") this.#discovery = undefined;
  }

  /** Tells what the browser came back with; undefined if it was not sent anywhere. Each answer once. */
  async takeAnswer(): Promise<SignInAnswer | undefined> {
    const answer = this.#answer;
    this.#answer = undefined;
    return answer;
  }
}
