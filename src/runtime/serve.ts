/**
 * Makes an engine reachable: listeners, tokens and the surfaces that confirm new tokens.
 *
 * 1. Beyond loopback it starts only with TLS and a token file whose token is bound to sessions.
 * 2. If one listener cannot start, none stays.
 * 3. The web client has a port of its own, from the moment on when a person asks for it. An engine that follows one which was killed
 *    takes the same port, so that open pages find it.
 */

import { join } from "node:path";
import { UsageError } from "../base/usage-error.js";
import type { Variables } from "../base/variables.js";
import { type AuthChannel, confirmationChannels } from "../control/auth/channels.js";
import type { ServiceLog } from "../control/auth/refused-tokens.js";
import { type FileToken, readTokenFile } from "../control/auth/token-file.js";
import { tokenVerbs } from "../control/auth/token-verbs.js";
import { Tokens } from "../control/auth/tokens.js";
import { ControlOwner } from "../control/control-owner.js";
import { controlPlace } from "../control/control-place.js";
import { listenOnPort, listenOnSocket, parseListen, type TlsFiles } from "../control/transports/http/listen.js";
import {
  type HttpLimits,
  HttpService,
  type HttpServiceOptions,
  type Mount,
} from "../control/transports/http/server.js";
import { asLoopback } from "../control/transports/local-access.js";
import { WebListener } from "../control/web-listener.js";
import { lockHolder } from "../system/file-lock.js";
import { readGivenFile } from "../system/given-file.js";
import type { Roots } from "../system/xdg-paths.js";
import { keepEnvironment } from "./engine-environment.js";
import type { Engine } from "./open-engine.js";
import type { Settings } from "./settings/settings.js";

export interface ServeOptions {
  readonly roots: Pick<Roots, "state" | "config">;
  readonly variables: Variables;
  /** Those of the engine's own place. */
  readonly settings?: Settings;
  /** False: no Unix socket. */
  readonly socket?: boolean;
  /** This process owns the socket already. */
  readonly owner?: ControlOwner | undefined;
  /** `HOST:PORT`, or a port. */
  readonly listen?: readonly string[];
  /** Files in PEM. */
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
  readonly authTokenFile?: string | undefined;
  readonly authChannel?: AuthChannel;
  /** Pages on other addresses that may use it. */
  readonly origins?: readonly string[];
  readonly mounts?: readonly Mount[];
  /** The folder of the web client; absent where there is none. */
  readonly web?: string | undefined;
  readonly limits?: HttpLimits;
  readonly log?: ServiceLog;
  readonly onRequest?: HttpServiceOptions["onRequest"];
}

export interface ServedEngine {
  /** `unix:/path`, `http://127.0.0.1:8080`, `https://…` */
  readonly addresses: readonly string[];
  readonly tokens: Tokens;
  /** The owner's token, which `control.token` holds as well. */
  readonly ownerToken: string;
  /** Shows the web client. */
  readonly openWeb: NonNullable<HttpServiceOptions["openWeb"]>;
  /** Tells when a person last asked for the web client, on the clock of the engine. */
  readonly webAskedAt: () => number;
  /** Ends all connections. Sessions and their turns go on. */
  close(): Promise<void>;
}

/** An hour: the owner's token is renewed when half of its time is over. */
const RENEW_MS = 60 * 60 * 1000;

export function controlSocket(roots: Pick<Roots, "state">): string {
  return controlPlace(roots).socket;
}

export async function serveEngine(engine: Engine, options: ServeOptions): Promise<ServedEngine> {
  const { roots, variables, authChannel = "auto", origins = [], log = () => {} } = options;
  const places = (options.listen ?? []).map(readPlace);
  const tls = await readTls(options);
  const fileTokens = await readFileTokens(options);
  refuseOpenNetwork(places, { tls, options, fileTokens });
  const channels = confirmationChannels(authChannel, {
    notifyPeople: (message, about) => engine.host.notifyPeople(message, about),
    variables,
  });
  const owner = await ownerOf(options, engine);
  const tokens = await Tokens.open({ stateFolder: roots.state, clock: engine.clock, channels, fileTokens });
  const ownerToken = await tokens.keepOwnerToken();
  engine.host.addVerbs("tokens", tokenVerbs(tokens));
  if (options.socket !== false) await keepEnvironment(roots, variables, options.settings);
  for (const feature of ["rest", "ws", "openapi", "tokens"]) engine.host.addFeature(feature);
  const service = new HttpService({
    ...{ host: engine.host, tokens, clock: engine.clock, log },
    newClientId: () => engine.newClientId(),
    ...(options.mounts !== undefined && { mounts: options.mounts }),
    ...(options.limits !== undefined && { limits: options.limits }),
    ...(options.onRequest !== undefined && { onRequest: options.onRequest }),
    ...(options.web !== undefined && { openWeb: (asked) => web.open(asked) }),
  });
  const addresses: string[] = [];
  const tellAddresses = () => engine.listensOn(addresses.filter((address) => address.startsWith("http")));
  const web = new WebListener(service, {
    ...{ tokens, state: roots.state, folder: options.web, clock: engine.clock },
    onOpen: (address) => {
      addresses.push(address);
      tellAddresses();
    },
  });
  try {
    if (options.socket !== false) {
      await listenOnSocket(service, await controlPlace(roots).address());
      addresses.push(`unix:${controlSocket(roots)}`);
    }
    for (const place of places) addresses.push(await listenOnPort(service, place, { tls, origins }));
    if (options.socket !== false) await web.openAgain();
  } catch (error) {
    await service.close();
    await owner?.close();
    throw error;
  }
  tellAddresses();
  engine.isServedBy({
    ...(options.web !== undefined && { openWeb: (asked) => web.open(asked) }),
    revokeToken: (token) => tokens.revoke(token),
  });
  engine.report("control", () => ({ ok: true, detail: addresses.join(", ") }));
  const renew = () =>
    void tokens
      .keepOwnerToken()
      .catch((error) => log("auth", "cannot renew the owner's token", { error: String(error) }));
  const stopRenewing = every(RENEW_MS, engine, renew);
  // It may have been the owner's.
  tokens.onRevoke(renew);
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= Promise.resolve(stopRenewing())
      .then(() => service.close())
      .then(() => web.forget())
      .then(() => owner?.close());
    return closed;
  };
  const openWeb: ServedEngine["openWeb"] = (asked) => web.open(asked);
  return { addresses, tokens, ownerToken, openWeb, webAskedAt: () => web.askedAt, close };
}

/** Only one process of a home listens on the socket. */
async function ownerOf({ socket, owner, roots }: ServeOptions, { clock }: Engine): Promise<ControlOwner | undefined> {
  if (socket === false) return undefined;
  const place = controlPlace(roots);
  const own = owner ?? (await ControlOwner.claim(place, clock));
  if (own !== undefined) return own;
  const pid = lockHolder(place.lock)?.pid;
  throw new Error(
    `Cannot listen on ${place.socket}: ${pid === undefined ? "another process" : `process ${pid}`} is the engine of this home ('oxbow status'). --no-socket leaves the socket out.`,
  );
}

function readPlace(text: string) {
  const place = parseListen(text);
  if (place === undefined)
    throw new UsageError(`--listen takes HOST:PORT or a port, such as 127.0.0.1:8080, not "${text}".`);
  return place;
}

async function readTls({ tlsCert, tlsKey }: ServeOptions): Promise<TlsFiles | undefined> {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) throw new UsageError("--tls-cert and --tls-key belong together.");
  const read = (path: string) =>
    readGivenFile(path).catch((error: NodeJS.ErrnoException) => {
      throw new UsageError(`Oxbow cannot read ${path}: ${error.message}`);
    });
  return { cert: (await read(tlsCert)).toString("utf8"), key: (await read(tlsKey)).toString("utf8") };
}

async function readFileTokens({ roots, authTokenFile }: ServeOptions): Promise<readonly FileToken[]> {
  const asUsage = (error: unknown) => {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  };
  const ci = await readTokenFile(join(roots.config, "ci-token.json")).catch(asUsage);
  const named = authTokenFile === undefined ? undefined : await readTokenFile(authTokenFile).catch(asUsage);
  if (authTokenFile !== undefined && named === undefined) throw new UsageError(`There is no file ${authTokenFile}.`);
  return [ci, named].filter((token) => token !== undefined);
}

function refuseOpenNetwork(
  places: readonly { readonly host: string }[],
  { tls, options, fileTokens }: { tls: TlsFiles | undefined; options: ServeOptions; fileTokens: readonly FileToken[] },
): void {
  const open = places.find(({ host }) => asLoopback(host) === undefined);
  if (open === undefined) return;
  const missing = [
    ...(tls === undefined ? ["--tls-cert FILE and --tls-key FILE"] : []),
    ...(options.authTokenFile === undefined ? ["--auth-token-file FILE"] : []),
  ];
  if (missing.length > 0) {
    throw new UsageError(
      `Refused to listen on ${open.host}: other machines can reach it. Add ${missing.join(", and ")}, or listen on 127.0.0.1.`,
    );
  }
  if (fileTokens.some(({ claims }) => claims.sessions === undefined)) {
    throw new UsageError(
      `Refused to listen on ${open.host}: the token in ${options.authTokenFile} is not bound to sessions. Add "sessions" to it.`,
    );
  }
}

function every(ms: number, { clock }: Pick<Engine, "clock">, action: () => void): () => void {
  let stop = () => {};
  const again = () => {
    stop = clock.after(ms, () => {
      action();
      again();
    });
  };
  again();
  return () => stop();
}
