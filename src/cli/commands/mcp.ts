/** `oxbow mcp`, with `auth NAME`: signs in to a server in a browser and leaves the tokens to the credential helper. */
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { AUTH, findServer, type ShellPort, shellCommands } from "../../extensions/mcp/commands.js";
import { fetchWith } from "../../extensions/mcp/fetch.js";
import { FloodGuard } from "../../extensions/mcp/flood-guard.js";
import { OAuthClient } from "../../extensions/mcp/oauth-client.js";
import type { RemoteTransport, ServerConfig } from "../../extensions/mcp/server-config.js";
import { connectSigningIn } from "../../extensions/mcp/sign-in.js";
import type { CommandArguments, OpenShell } from "../../feature/command.js";
import { openShellServers } from "../../runtime/mcp/open-server.js";
import { networkOf } from "../../runtime/network.js";
import type { LoadedSettings } from "../../runtime/settings/settings.js";
import { createNetGuard } from "../../security/net-guard/net-guard.js";
import { readPaste } from "../../security/oauth/authorization.js";
import { type LoopbackListener, listen } from "../../security/oauth/loopback-listener.js";
import { newProof } from "../../security/oauth/pkce.js";
import { type Renewal, serverCredential, serverEntry } from "../../security/oauth/server-tokens.js";
import { createHttpClient, type HttpClient } from "../../system/http-client.js";
import { nodeClock } from "../../system/node-clock.js";
import { EXIT } from "../exit-codes.js";
import { printMessage } from "../print-message.js";
import { browserOf, openConversation } from "./auth/sign-in.js";
import { openFileAtTerminal } from "./auth/unlock.js";

interface AuthContext {
  readonly args: CommandArguments;
  readonly variables: Variables;
  readonly loaded: LoadedSettings;
  readonly port: ShellPort;
}

export const openShell: OpenShell = async (place) => {
  const { loaded, port } = await openShellServers(place);
  const { variables } = place;
  const auth = { ...AUTH, take: (args: CommandArguments) => signInToServer({ args, variables, loaded, port }) };
  return { commands: shellCommands(port), terminalCommands: [auth] };
};

const LIMIT_MS = 5 * 60 * 1000;
const REDIRECT = { path: "/callback", ports: [] } as const;

async function signInToServer(context: AuthContext): Promise<number> {
  const { args, variables, loaded, port } = context;
  const name = args.text("NAME") ?? "";
  const file = await openFileAtTerminal(variables);
  if (args.hasFlag("remove")) {
    const isGone = await file.remove({ provider: serverCredential(name), account: "default" });
    process.stdout.write(isGone ? `Forgot the sign-in to '${name}'.\n` : `There is no sign-in to '${name}'.\n`);
    return isGone ? EXIT.answered : EXIT.failed;
  }
  const { config } = await findServer(name, port);
  if (!isRemote(config)) throw new UsageError(`'${name}' is a program, which signs in by itself.`);
  // A file that cannot be written shows before the sign-in, not after it.
  await file.change(() => ({ result: undefined }));
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  const cancelLimit = nodeClock.after(LIMIT_MS, onSignal);
  const { web_hosts: webHosts, web_names: webNames } = loaded.settings;
  const { url: address } = config.transport;
  const http = signInHttp({ url: address, variables, webHosts: webHosts.value, webNames: webNames.value });
  const guard = new FloodGuard({ clock: nodeClock, onFlood: () => {} });
  const listener = await listen({ redirect: REDIRECT, label: `the MCP server ${name}` });
  let outcome: "signed-in" | "failed" = "failed";
  try {
    const oauth = oauthClient(context, { listener, signal: stop.signal });
    const { connection } = await connectSigningIn({
      config,
      oauth,
      fetch: fetchWith(http, guard),
      signal: stop.signal,
    });
    await connection.close();
    const tokens = oauth.tokens();
    if (tokens === undefined) {
      process.stdout.write(`'${name}' needs no sign-in.\n`);
      return EXIT.answered;
    }
    const { access_token: access, refresh_token: refresh, expires_in: expiresInSeconds } = tokens;
    const { url } = config.transport;
    const now = nodeClock.wall();
    await file.put(
      serverEntry({ server: name, url, access, refresh, expiresInSeconds, renewal: renewalOf(oauth), now }),
    );
    outcome = "signed-in";
    process.stdout.write(`Signed in to '${name}', for ${new URL(url).origin} only.\n`);
    return EXIT.answered;
  } catch (error) {
    if (stop.signal.aborted) printMessage("you did not finish the sign-in. Oxbow stored nothing.");
    else printMessage((error as Error).message);
    return stop.signal.aborted ? EXIT.cancelled : EXIT.failed;
  } finally {
    cancelLimit();
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
    await listener.finish(outcome);
    http.close();
  }
}

function isRemote(config: ServerConfig): config is ServerConfig & { readonly transport: RemoteTransport } {
  return config.transport.kind !== "stdio";
}

function oauthClient(
  context: AuthContext,
  { listener, signal }: { readonly listener: LoopbackListener; readonly signal: AbortSignal },
): OAuthClient {
  const random = (count: number) => crypto.getRandomValues(new Uint8Array(count));
  return new OAuthClient({
    redirectUrl: listener.redirectUri,
    scope: context.args.flag("scope"),
    newState: () => newProof(random).state,
    authorize: async (url, state) => {
      if (url.protocol !== "https:" && url.hostname !== "localhost" && url.hostname !== "127.0.0.1")
        throw new UsageError(`The server wants a sign-in at ${url.origin}, which is not encrypted.`);
      const { open } = browserOf(context);
      const person = await openConversation(context);
      try {
        const how = open === undefined ? "Open this address in a browser" : "Your browser opens; if it does not, go to";
        person.notify(`\nSign in at ${url.origin}. ${how}:\n\n  ${url.href}\n\n`);
        open?.(url.href);
        const pasted = person.ask === undefined ? [] : [pastedAnswer(person.ask, { state, signal })];
        return await Promise.race([listener.answer(state, signal), ...pasted]);
      } finally {
        person.close();
      }
    },
  });
}

/** For a browser on another machine: the person copies the address that it ended at. */
async function pastedAnswer(
  ask: (question: string, signal: AbortSignal) => Promise<string | undefined>,
  { state, signal }: { readonly state: string; readonly signal: AbortSignal },
) {
  for (;;) {
    const line = await ask("Paste the address the browser ended at (or finish in the browser): ", signal);
    if (line === undefined || signal.aborted) return new Promise<never>(() => {});
    const pasted = readPaste(line, state);
    if (typeof pasted !== "string" && "code" in pasted) return pasted;
    if (typeof pasted !== "string") throw pasted.error;
  }
}

function renewalOf(oauth: OAuthClient): Renewal {
  const { authorizationServerMetadata: server, resourceMetadata: resource } = oauth.discovered ?? {};
  const { client_id: clientId = "", client_secret: clientSecret } = oauth.clientInformation() ?? {};
  const methods = server?.token_endpoint_auth_methods_supported ?? [];
  const basic = methods.length === 0 || methods.includes("client_secret_basic");
  return {
    tokenUrl: server?.token_endpoint ?? "",
    clientId,
    ...(clientSecret !== undefined && { clientSecret }),
    method: clientSecret === undefined ? "none" : basic ? "client_secret_basic" : "client_secret_post",
    ...(resource?.resource !== undefined && { resource: resource.resource }),
  };
}

export interface SignInHttpOptions {
  /** Of the server. */
  readonly url: string;
  readonly variables: Variables;
  readonly webHosts: readonly string[];
  readonly webNames: "check" | "proxy";
}

const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

export function signInHttp({ url, variables, webHosts, webNames }: SignInHttpOptions): HttpClient {
  const network = networkOf(variables);
  const http = createHttpClient({ clock: nodeClock, network });
  const own = new URL(url);
  const isLocal = LOOPBACK.has(own.hostname);
  const guard = createNetGuard({
    allowedHosts: [...webHosts, ...(isLocal ? LOOPBACK : [])],
    isProxied: async (address) => (await network())?.proxyFor(address) !== undefined,
    unknownNames: webNames === "proxy" ? "proxy" : "refuse",
  });
  return {
    request: async (request) => {
      const asked = new URL(request.url);
      // The user has named this one.
      if (asked.origin === own.origin) return http.request(request);
      if (asked.protocol !== "https:" && !LOOPBACK.has(asked.hostname))
        throw new Error(`The server names ${asked.origin} for its sign-in, which is not encrypted.`);
      const admitted = await guard.admit(asked.href, request.signal ?? new AbortController().signal);
      if (!admitted.allowed)
        throw new Error(
          `The server names ${asked.origin} for its sign-in, which is refused: ${admitted.reason}. If you trust it, add the host to web_hosts.`,
        );
      const proxied = (await network())?.proxyFor(asked) !== undefined;
      return http.request({ ...request, ...(!proxied && { lookup: admitted.lookup }) });
    },
    close: () => http.close(),
  };
}
