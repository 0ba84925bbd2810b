/**
 * Serves an outer agent on standard input and output.
 *
 * 1. With a token in OXBOW_TOKEN it drives the engine that runs in this home, with the rights of the token.
 * 2. Without one it drives that engine as an agent, so that the person who has it open sees the sessions. Each session gets the
 *    environment, the keys and the flags of this process, as that of a terminal does. Flags of a whole engine are for one of its own.
 * 3. Otherwise it opens an engine of its own, and listens, so that the user can attach to the sessions.
 */

import { resolve } from "node:path";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { VERSION } from "../../base/version.js";
import type { HttpClient } from "../../clients/sdk/http-client.js";
import type { ConnectOptions } from "../../clients/sdk/options.js";
import { agentNotices, desktopNotices } from "../../control/auth/agent-notices.js";
import { BANNER } from "../../control/transports/mcp-server/engine-offer.js";
import { serveMcpStdio } from "../../control/transports/mcp-server/stdio.js";
import type { ParsedFlags } from "../../feature/flags.js";
import type { CommandReply, EngineClient, QueryReply } from "../../protocol/client.js";
import type { CommandKind, CommandPayloads, SessionStart } from "../../protocol/commands.js";
import type { Handshake } from "../../protocol/handshake.js";
import type { QueryKind } from "../../protocol/queries.js";
import { unlikeEngine } from "../../runtime/engine-environment.js";
import { loadSettings } from "../../runtime/settings/settings.js";
import { McpParents } from "../../security/trust/mcp-parents.js";
import { askOnControllingTerminal } from "../../system/controlling-terminal.js";
import { nodeClock } from "../../system/node-clock.js";
import { parentProgram } from "../../system/parent-process.js";
import { type Roots, roots } from "../../system/xdg-paths.js";
import { refuseWideningFlags } from "../agent-limits.js";
import { engineFlags, sessionStart } from "../engine/session-start.js";
import { EXIT } from "../exit-codes.js";
import { printMessage } from "../print-message.js";
import { takeProtocolStreams } from "../protocol-streams.js";
import { untilStopped } from "../until-stopped.js";
import { ParentGate } from "./parent-gate.js";

/** The library reads less than 10 MiB. */
const MOST_MESSAGE_BYTES = 10 * 1000 * 1000;

interface Driven {
  readonly client: EngineClient;
  readonly handshake?: Handshake;
  /** The folder of new sessions; undefined: that of the engine. */
  readonly cwd?: string;
  /** The engine is gone. */
  readonly lost?: Promise<void>;
  close(): Promise<void>;
}

export async function serveAgent(flags: ParsedFlags, variables: Variables): Promise<number> {
  const streams = takeProtocolStreams({
    ...{ command: "oxbow mcp-server", starter: "another agent" },
    mostMessageBytes: MOST_MESSAGE_BYTES,
  });
  const places = roots(variables);
  // The outer agent may have written this command line, so it can widen nothing: that is for the user's profile.
  refuseWideningFlags({ ...variables, OXBOW_AGENT: "1" }, flags);
  const driven = (await runningEngine(flags, variables, places)) ?? (await ownEngine(flags, variables, places));
  const gate = new ParentGate({
    parents: new McpParents(places),
    parent: parentProgram(),
    clock: nodeClock,
    pid: process.pid,
    ask: askOnControllingTerminal,
    notify: (message) => void desktopNotices(variables)(message),
  });
  const log = (message: string) => printMessage(message);
  log(BANNER);
  const ended = serveMcpStdio({
    ...{ client: driven.client, clock: nodeClock, version: VERSION, log },
    handshake: driven.handshake,
    ...(driven.cwd !== undefined && { cwd: driven.cwd }),
    ...streams,
    refusal: (patience) => gate.refusal(patience),
    onSession: (session, agent) => {
      if (gate.attach === "always") void agentNotices(variables).session(session, agent);
    },
    onQuestion: (session, summary) => {
      if (gate.attach === "always") void agentNotices(variables).question(session, summary);
    },
  });
  const lost = driven.lost?.then(() => "lost" as const) ?? new Promise<never>(() => {});
  const how = await untilStopped(Promise.race([ended, lost]));
  if (how === "lost") log("the engine has ended. Start the server again.");
  await driven.close();
  return how === "lost" ? EXIT.failed : EXIT.answered;
}

/** Undefined if there is none to drive. */
async function runningEngine(flags: ParsedFlags, variables: Variables, places: Roots): Promise<Driven | undefined> {
  const hasToken = Boolean(variables.OXBOW_TOKEN);
  if (!hasToken && (flags.has("no-attach") || engineFlags(flags).length > 0)) return undefined;
  let end: () => void = () => {};
  const lost = new Promise<void>((resolve) => {
    end = resolve;
  });
  const options = {
    ...({ name: "mcp-server", identity: "agent", retry: (attempt: number) => attempt < MOST_ATTEMPTS } as const),
    onState: (state: string) => {
      if (state === "closed") end();
    },
  };
  const client = hasToken ? await withToken(variables, places, options) : await asOwner(variables, options);
  if (client === undefined) return undefined;
  // The engine may be older than this protocol, and take the client for a person's.
  if (client.identity !== "agent") {
    await client.close();
    throw new UsageError("The running engine does not let this server work as an agent. Update it, or end it.");
  }
  const start = hasToken ? undefined : await surroundings(flags, { variables, places });
  if (start === "of another engine") {
    await client.close();
    return undefined;
  }
  return {
    client: noticingLoss(client, { end, start }),
    handshake: client.handshake,
    cwd: resolve(flags.text("cwd") ?? process.cwd()),
    lost,
    close: async () => client.close(),
  };
}

const MOST_ATTEMPTS = 3;

/** Gathers what the sessions get from this process. The running engine may store its sessions elsewhere, for example: then it is none for them. */
async function surroundings(
  flags: ParsedFlags,
  { variables, places }: { readonly variables: Variables; readonly places: Roots },
): Promise<SessionStart | "of another engine"> {
  const loaded = await loadSettings(flags, variables);
  if (unlikeEngine(places, variables, loaded.settings).length > 0) return "of another engine";
  return sessionStart(flags, { variables, loaded });
}

/** Without a session there is no stream whose end would show that the engine has ended. */
function noticingLoss(
  client: HttpClient,
  { end, start }: { readonly end: () => void; readonly start: SessionStart | undefined },
): EngineClient {
  const withStart = <K extends CommandKind>(kind: K, payload: CommandPayloads[K]): CommandPayloads[K] =>
    kind === "CreateSession" && start !== undefined ? { ...payload, start } : payload;
  const seen = <R extends CommandReply | QueryReply<QueryKind>>(reply: R): R => {
    // The caller gets its answer first.
    if (!reply.ok && reply.failure.reason === "NetworkFailed") setTimeout(end, ANSWER_MS);
    return reply;
  };
  return {
    id: client.id,
    identity: client.identity,
    send: async (kind, payload, session) => seen(await client.send(kind, withStart(kind, payload), session)),
    query: async (kind, request, session) => seen(await client.query(kind, request, session)),
    subscribe: (listener) => client.subscribe(listener),
  };
}

const ANSWER_MS = 200;

type Options = Pick<ConnectOptions, "name" | "identity" | "retry" | "onState">;

async function withToken(variables: Variables, places: Roots, options: Options): Promise<HttpClient> {
  const [{ HttpClient: Client }, { socketExchange }, { controlPlace }] = await Promise.all([
    import("../../clients/sdk/http-client.js"),
    import("../../clients/sdk-node/socket-exchange.js"),
    import("../../control/control-place.js"),
  ]);
  const place = controlPlace(places);
  const exchange = socketExchange(await place.address());
  return Client.connect({ ...options, token: variables.OXBOW_TOKEN ?? "", exchange, place: place.socket });
}

async function asOwner(variables: Variables, options: Options): Promise<HttpClient | undefined> {
  const { reachEngine } = await import("../attach/reach.js");
  const reached = await reachEngine(variables, options);
  return reached.kind === "connected" ? reached.client : undefined;
}

async function ownEngine(flags: ParsedFlags, variables: Variables, places: Roots): Promise<Driven> {
  const [{ prepare }, { processTerminal }, { Listening }, { isInsideEngine }] = await Promise.all([
    import("../run/prepare.js"),
    import("../terminal-io.js"),
    import("../attach/listen.js"),
    import("../../system/model-ancestors.js"),
  ]);
  const terminal = processTerminal(variables);
  const asAgent = { ...variables, OXBOW_AGENT: "1" };
  const prepared = await prepare(flags, { rawTrace: false, skipsUnapproved: true, variables: asAgent, terminal });
  const { engine } = prepared;
  for (const feature of ["mcpserver_stdio", "auto_attach_on_mcp"]) engine.host.addFeature(feature);
  // Always an agent's: no setting and no token makes this client answer a question.
  const identity = { identity: "agent", canAnswer: false, transport: "mcp" } as const;
  const client = engine.host.connect({ id: engine.newClientId(), ...identity, name: "mcp-server" });
  const log = (_level: string, _area: string, message: string) => printMessage(message);
  const listening = new Listening({ engine, client, roots: places, variables, log });
  // The engine would write a person's token.
  if (!isInsideEngine(variables)) listening.begin();
  const greeting = client.handshake();
  return {
    client,
    ...(greeting.ok && { handshake: greeting.handshake }),
    close: async () => {
      await engine.close();
      await listening.close();
    },
  };
}
