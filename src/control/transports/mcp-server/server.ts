/**
 * Oxbow as an MCP server: an outer agent drives sessions, reads them and uses skills as prompts.
 *
 * The client is always an agent's: it can never answer a question, whatever the outer agent asks for.
 */
import {
  CLIENT_INFO_META_KEY,
  type Implementation,
  ProtocolError,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Clock } from "../../../base/clock.js";
import type { EngineClient } from "../../../protocol/client.js";
import type { Envelope } from "../../../protocol/envelope.js";
import { failure } from "../../../protocol/errors.js";
import type { SessionId } from "../../../protocol/ids.js";
import type { JsonObject } from "../../../protocol/json.js";
import { getPrompt, listPrompts } from "./prompts.js";
import { FIXED, listResources, readResource, TEMPLATES } from "./resources.js";
import { publishEvents, replayMissed, type Subscriptions } from "./subscriptions.js";
import { TOOLS } from "./tool-schemas.js";
import { callTool, refusal } from "./tools.js";

export interface McpServerOptions {
  readonly client: EngineClient;
  readonly clock: Clock;
  readonly version: string;
  /** The folder of new sessions that name none; default: that of the engine. */
  readonly cwd?: string;
  /** Why the caller may not use the engine; undefined if it may. `wait` gives the user time to allow it. */
  readonly refusal?: (patience: "now" | "wait") => Promise<string | undefined>;
  /** A session began for the outer agent, whose name it gave itself. */
  readonly onSession?: (session: SessionId, agent: string) => void;
  /** The resources whose changes the outer agent wants to know. */
  readonly subscriptions: Subscriptions;
  /** `itself`: it sends the changes; `transport`: another part of the transport does. */
  readonly announces: "itself" | "transport";
}

export const BANNER =
  "Oxbow runs an AI agent with a shell on this machine. You drive it as an agent: calls that need permission wait for a person, and you " +
  "cannot approve them. What it does costs money; every answer says how much.";

const INVALID_PARAMS = -32602;
/** A client that hears nothing for a minute gives up. */
const HEARTBEAT_MS = 10_000;
/** Lists change with every session, so no client should keep them. */
const UNCACHED = { ttlMs: 0, cacheScope: "private" } as const;

export function createMcpServer(options: McpServerOptions): Server {
  const { client, version, subscriptions, announces } = options;
  const server = new Server(
    { name: "oxbow", title: "Oxbow", version },
    {
      capabilities: {
        tools: {},
        resources: { subscribe: true, listChanged: true },
        prompts: {},
        completions: {},
        logging: {},
      },
      instructions: BANNER,
      cacheHints: { "tools/list": { ttlMs: 3_600_000, cacheScope: "public" }, "resources/read": UNCACHED },
    },
  );
  addTools(server, options);
  addResources(server, options);
  addPrompts(server, options);
  if (announces === "itself") {
    server.onclose = publishEvents(client, (uri, event) => {
      for (const each of subscriptions.named(uri)) void announce(server, each, event);
    });
  }
  return server;
}

async function announce(server: Server, uri: string, event: Envelope | undefined): Promise<void> {
  const params = { uri, ...(event !== undefined && { contents: event }) };
  // A client that is gone gets nothing.
  await server.notification({ method: "notifications/resources/updated", params }).catch(() => {});
}

function addTools(server: Server, options: McpServerOptions): void {
  const { client, clock, onSession } = options;
  server.setRequestHandler("tools/list", () => ({ tools: [...TOOLS] }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const why = await options.refusal?.("wait");
    if (why !== undefined) return refusal(failure("Unauthorized", { detail: why }));
    const agent = nameOf(infoIn(mcpReq.envelope) ?? server.getClientVersion());
    const onProgress = progressOf(mcpReq);
    const heartbeat = onProgress && setInterval(() => onProgress("working"), HEARTBEAT_MS);
    try {
      const place = {
        client,
        clock,
        cwd: options.cwd,
        banner: BANNER,
        onSession: (session: SessionId) => onSession?.(session, agent),
      };
      const args = (params.arguments ?? {}) as JsonObject;
      const result = await callTool(place, { name: params.name, args, signal: mcpReq.signal, onProgress });
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

/** A request of the 2026 revision carries the client's name itself. */
function infoIn(envelope: object | undefined): Pick<Implementation, "name"> | undefined {
  return (envelope as Readonly<Record<string, Pick<Implementation, "name">>> | undefined)?.[CLIENT_INFO_META_KEY];
}

function nameOf(info: Pick<Implementation, "name"> | undefined): string {
  return info?.name ?? "an agent";
}

async function demand(options: McpServerOptions): Promise<void> {
  const why = await options.refusal?.("wait");
  if (why !== undefined) throw new ProtocolError(INVALID_PARAMS, why);
}

function addResources(server: Server, options: McpServerOptions): void {
  const { client, subscriptions } = options;
  server.setRequestHandler("resources/list", async () => {
    const isAllowed = (await options.refusal?.("now")) === undefined;
    return { resources: isAllowed ? await listResources(client) : [...FIXED] };
  });
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [...TEMPLATES] }));
  server.setRequestHandler("resources/read", async ({ params }) => {
    await demand(options);
    return readResource(client, params.uri);
  });
  server.setRequestHandler("resources/subscribe", async ({ params: { uri } }) => {
    await demand(options);
    if (!(await subscriptions.follow(client, uri))) throw new ResourceNotFoundError(uri);
    void replayMissed(client, uri, (event) => announce(server, uri, event));
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params }) => {
    subscriptions.remove(params.uri);
    return {};
  });
}

function addPrompts(server: Server, options: McpServerOptions): void {
  const { client } = options;
  const isAllowed = async () => (await options.refusal?.("now")) === undefined;
  server.setRequestHandler("prompts/list", async () => ({
    prompts: (await isAllowed()) ? await listPrompts(client) : [],
  }));
  server.setRequestHandler("prompts/get", async ({ params }) => {
    await demand(options);
    return getPrompt(client, params.name, params.arguments?.input);
  });
  server.setRequestHandler("completion/complete", async ({ params }) => {
    const { ref, argument } = params;
    const isKnown = ref.type === "ref/resource" && (await isAllowed());
    const values = isKnown ? await completions(client, ref.uri, argument.value) : [];
    return { completion: { values: values.slice(0, 100), total: values.length, hasMore: values.length > 100 } };
  });
}

async function completions(client: EngineClient, template: string, begun: string): Promise<readonly string[]> {
  return (await namesFor(client, template)).filter((name) => name.startsWith(begun));
}

async function namesFor(client: EngineClient, template: string): Promise<readonly string[]> {
  if (template.startsWith("oxbow://session/")) {
    const reply = await client.query("ListSessions", { limit: 500 });
    return reply.ok ? reply.answer.sessions.map(({ id }) => id) : [];
  }
  if (template.startsWith("oxbow://skill/")) return (await listPrompts(client)).map(({ name }) => name);
  if (template.startsWith("oxbow://profile/")) {
    const reply = await client.query("ListProfiles", {});
    return reply.ok ? reply.answer.profiles.map(({ name }) => name) : [];
  }
  const reply = await client.query("ListProviders", {});
  return reply.ok ? reply.answer.providers.map(({ name }) => name) : [];
}
