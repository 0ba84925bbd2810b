/**
 * Oxbow as an MCP server: speaks the protocol about what an offer holds, by default that of an engine.
 *
 * The client is always an agent's: it can never answer a question, whatever the outer agent asks for.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type Implementation,
  ProtocolError,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Envelope } from "../../../protocol/envelope.js";
import { type Failure, failure } from "../../../protocol/errors.js";
import { versionProblem } from "../../../protocol/handshake.js";
import { isJsonObject, type JsonObject } from "../../../protocol/json.js";
import type { McpOffer } from "./offer.js";
import type { Subscriptions } from "./subscriptions.js";
import { refusal } from "./tools.js";

/** Describes what a caller that is not allowed gets: `now` a refusal, `ask` too, and Oxbow asks the user, `wait` time for the user's answer. */
export type Patience = "now" | "ask" | "wait";

export interface McpServerOptions {
  readonly offer: McpOffer;
  readonly version: string;
  /** Tells why the caller may not use the offer; undefined if it may. */
  readonly refusal?: (patience: Patience) => Promise<string | undefined>;
  /** The resources whose changes the outer agent wants to know. */
  readonly subscriptions: Subscriptions;
  /** `itself`: it sends the changes; `transport`: another part of the transport does. */
  readonly announces: "itself" | "transport";
}

/** The capability that carries the handshake, of both sides. */
const HANDSHAKE = "oxbow";
const INVALID_PARAMS = -32602;
/** A client that hears nothing for a minute gives up. */
const HEARTBEAT_MS = 10_000;
/** Lists change with every session, so no client should keep them. */
const UNCACHED = { ttlMs: 0, cacheScope: "private" } as const;
const MOST_COMPLETIONS = 100;

export function createMcpServer(options: McpServerOptions): Server {
  const { offer, version, subscriptions, announces } = options;
  const { verifyState } = offer;
  const server = new Server(
    { name: "oxbow", title: "Oxbow", version },
    {
      capabilities: {
        tools: {},
        resources: { subscribe: true, listChanged: true },
        prompts: {},
        completions: {},
        logging: {},
        ...(offer.handshake && { experimental: { [HANDSHAKE]: offer.handshake } }),
      },
      instructions: offer.instructions,
      cacheHints: { "tools/list": { ttlMs: 3_600_000, cacheScope: "public" }, "resources/read": UNCACHED },
      ...(verifyState !== undefined && { requestState: { verify: verifyState } }),
    },
  );
  addTools(server, options);
  addResources(server, options);
  addPrompts(server, options);
  if (announces === "itself") {
    server.onclose = offer.watch((uri, event) => {
      for (const each of subscriptions.named(uri)) void announce(server, each, event);
    }, subscriptions.wants);
  }
  return server;
}

async function announce(server: Server, uri: string, event: Envelope | undefined): Promise<void> {
  const params = { uri, ...(event !== undefined && { contents: event }) };
  // A client that is gone gets nothing.
  await server.notification({ method: "notifications/resources/updated", params }).catch(() => {});
}

function addTools(server: Server, options: McpServerOptions): void {
  const { offer } = options;
  server.setRequestHandler("tools/list", () => ({ tools: [...offer.tools] }));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const mismatch = mismatchOf(options, capabilitiesOf(server, context));
    if (mismatch !== undefined) return refusal(mismatch);
    const why = await options.refusal?.("wait");
    if (why !== undefined) return refusal(failure("Unauthorized", { detail: why }));
    const { mcpReq } = context;
    const agent = nameOf(sentWith<Implementation>(mcpReq.envelope, CLIENT_INFO_META_KEY) ?? server.getClientVersion());
    const onProgress = progressOf(mcpReq);
    const heartbeat = onProgress && setInterval(() => onProgress("working"), HEARTBEAT_MS);
    try {
      const args = (params.arguments ?? {}) as JsonObject;
      const { signal } = mcpReq;
      const result = await offer.call({ name: params.name, args, signal, onProgress, agent, context });
      if (result === undefined) throw new ProtocolError(INVALID_PARAMS, `Unknown tool: ${params.name}`);
      return result;
    } finally {
      clearInterval(heartbeat);
    }
  });
}

/** Undefined if the caller wants none. */
function progressOf({ _meta, notify }: ServerContext["mcpReq"]): ((message: string) => void) | undefined {
  const token = _meta?.progressToken;
  if (token === undefined) return undefined;
  let progress = 0;
  return (message) => {
    const params = { progressToken: token, progress: ++progress, message };
    void notify({ method: "notifications/progress", params }).catch(() => {});
  };
}

/** A request of the 2026 revision carries what it says about the client itself. */
function sentWith<T>(envelope: object | undefined, key: string): T | undefined {
  return (envelope as Readonly<Record<string, T>> | undefined)?.[key];
}

function nameOf(info: Pick<Implementation, "name"> | undefined): string {
  return info?.name ?? "an agent";
}

function capabilitiesOf(server: Server, { mcpReq }: ServerContext): ClientCapabilities | undefined {
  return sentWith<ClientCapabilities>(mcpReq.envelope, CLIENT_CAPABILITIES_META_KEY) ?? server.getClientCapabilities();
}

/** A client that names the version of Oxbow's protocol which it speaks is refused if it is another one. */
function mismatchOf({ offer }: McpServerOptions, capabilities: ClientCapabilities | undefined): Failure | undefined {
  const hello = offer.handshake && capabilities?.experimental?.[HANDSHAKE];
  return isJsonObject(hello) ? versionProblem(hello.protocol_version) : undefined;
}

async function demand(
  options: McpServerOptions,
  capabilities: ClientCapabilities | undefined,
  patience: Patience = "wait",
): Promise<void> {
  const mismatch = mismatchOf(options, capabilities);
  if (mismatch !== undefined) throw new ProtocolError(INVALID_PARAMS, mismatch.message);
  const why = await options.refusal?.(patience);
  if (why !== undefined) throw new ProtocolError(INVALID_PARAMS, why);
}

async function isAllowed(options: McpServerOptions): Promise<boolean> {
  return (await options.refusal?.("now")) === undefined;
}

function addResources(server: Server, options: McpServerOptions): void {
  const { offer, subscriptions } = options;
  server.setRequestHandler("resources/list", async () => ({
    resources: [...(await offer.resources((await isAllowed(options)) ? "all" : "fixed"))],
  }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [...offer.templates] }));
  server.setRequestHandler("resources/read", async ({ params }, context) => {
    await demand(options, capabilitiesOf(server, context));
    return offer.read(params.uri);
  });
  server.setRequestHandler("resources/subscribe", async ({ params: { uri } }, context) => {
    await demand(options, capabilitiesOf(server, context), "ask");
    if (!(await subscriptions.follow(offer, uri))) throw new ResourceNotFoundError(uri);
    void offer.replay(uri, (event) => announce(server, uri, event));
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params }) => {
    subscriptions.remove(params.uri);
    return {};
  });
}

function addPrompts(server: Server, options: McpServerOptions): void {
  const { offer } = options;
  server.setRequestHandler("prompts/list", async () => ({
    prompts: (await isAllowed(options)) ? [...(await offer.prompts())] : [],
  }));
  server.setRequestHandler("prompts/get", async ({ params }, context) => {
    await demand(options, capabilitiesOf(server, context));
    return offer.prompt(params.name, params.arguments ?? {}, context);
  });
  server.setRequestHandler("completion/complete", async ({ params }) => {
    const values = (await isAllowed(options)) ? await offer.complete(params) : [];
    const hasMore = values.length > MOST_COMPLETIONS;
    return { completion: { values: values.slice(0, MOST_COMPLETIONS), total: values.length, hasMore } };
  });
}
