/** Connects to a server with an address and signs in where it asks for that. */
import type { FetchLike, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { type Connection, connect } from "./connection.js";
import type { OAuthClient } from "./oauth-client.js";
import type { RemoteTransport, ServerConfig } from "./server-config.js";
import { ServerRequests } from "./server-requests.js";

export interface SigningIn {
  readonly config: ServerConfig & { readonly transport: RemoteTransport };
  readonly oauth: OAuthClient;
  readonly fetch: FetchLike;
  readonly signal: AbortSignal;
  readonly requests?: ServerRequests;
  readonly onLog?: (line: string) => void;
}

export interface SignedIn {
  readonly connection: Connection;
  /** Repeats work for which the server wants another sign-in, such as one with more rights. */
  again<T>(work: () => Promise<T>): Promise<T>;
}

/** A server that sends a person to the browser more often does not want one. */
const MOST_ROUNDS = 2;

export async function connectSigningIn({
  config,
  oauth,
  fetch,
  signal,
  requests,
  onLog,
}: SigningIn): Promise<SignedIn> {
  const { StreamableHTTPClientTransport, SSEClientTransport } = await import("@modelcontextprotocol/client");
  const url = new URL(config.transport.url);
  const settings = { fetch, authProvider: oauth, requestInit: { headers: { ...config.transport.headers } } };
  let newest: Pick<StreamableHTTPClientTransport, "finishAuth"> | undefined;
  const again = async <T>(work: () => Promise<T>): Promise<T> => {
    for (let round = 0; ; round++) {
      try {
        return await work();
      } catch (error) {
        const answer = await oauth.takeAnswer();
        if (answer === undefined || newest === undefined || round >= MOST_ROUNDS) throw error;
        await newest.finishAuth(answer.code, answer.issuer);
      }
    }
  };
  const connection = await again(() =>
    connect({
      config,
      requests: requests ?? new ServerRequests(config.name, "/"),
      signal,
      onClose: () => {},
      onListChanged: () => {},
      onProblem: () => {},
      onLog: onLog ?? (() => {}),
      openProcess: () => Promise.reject(new Error("The server has an address.")),
      openRemote: async (kind) => {
        const made =
          kind === "sse" ? new SSEClientTransport(url, settings) : new StreamableHTTPClientTransport(url, settings);
        newest = made;
        return made;
      },
    }),
  );
  return { connection, again };
}
