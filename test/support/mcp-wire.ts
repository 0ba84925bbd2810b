/**
 * The MCP server as a wire of the conformance suite: commands are calls of its tools, events come by subscription. Every client is an
 * agent there, so what only people may do has no tool.
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/protocol/json.js";
import type { Scenario } from "../../src/testkit/conformance/protocol/scenario.js";
import type {
  ConformanceConnection,
  ConformanceReply,
  ConformanceTransport,
} from "../../src/testkit/conformance/protocol/transport.js";

type Call = readonly [tool: string, args: JsonObject];

/** Each command as a call. */
const COMMANDS: Readonly<Record<string, (payload: JsonObject) => Call>> = {
  CreateSession: ({ cwd, model, resume }) => ["create_session", { cwd, model, resume } as JsonObject],
  AttachSession: () => ["attach_session", {}],
  DetachSession: () => ["detach_session", {}],
  EndSession: () => ["end_session", {}],
  SendInput: ({ content, queue }) => ["send_input", { text: textOf(content), ...(queue === true && { queue: true }) }],
  CancelTurn: () => ["cancel_turn", {}],
  SetModel: ({ model = "" }) => ["set_model", { model }],
  EnterPlanMode: () => ["enter_plan_mode", {}],
};

/** Tells whether the tools have all that the scenario does. */
export function fitsMcp({ steps }: Scenario): boolean {
  return steps.every((step) => {
    if (step.do === "handshake" || step.do === "query") return false;
    if (step.do === "connect") return step.token === undefined && step.hello === undefined;
    if (step.do === "follow") return step.at === undefined;
    const sent = step.do === "command" ? [step.body] : step.do === "race" ? step.sends.map(({ body }) => body) : [];
    return sent.every(({ kind, payload }) => {
      const { steer, plan } = isJsonObject(payload) ? payload : {};
      return Object.hasOwn(COMMANDS, String(kind)) && steer === undefined && plan === undefined;
    });
  });
}

export function mcpTransport(url: string, token: string): ConformanceTransport {
  const open = new Set<ConformanceConnection>();
  return {
    name: "mcp",
    abilities: new Set(["agent", "many"]),
    connect: async () => {
      const connection = await connect(new URL("/mcp", url), token);
      open.add(connection);
      return connection;
    },
    close: async () => {
      for (const connection of open) await connection.drop();
    },
  };
}

async function connect(url: URL, token: string): Promise<ConformanceConnection> {
  const client = new Client({ name: "conformance", version: "1" }, { versionNegotiation: { mode: "legacy" } });
  const followed = new Map<string, (event: JsonObject) => void>();
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const transport = new StreamableHTTPClientTransport(url, { requestInit });
  await client.connect(transport);
  const take = transport.onmessage;
  transport.onmessage = (message, ...more) => {
    // The client's own handler drops the event, which is a field that the specification does not know.
    const { params } = message as { readonly params?: { readonly uri?: string; readonly contents?: JsonValue } };
    if (isJsonObject(params?.contents)) followed.get(params.uri ?? "")?.(params.contents);
    take?.(message, ...more);
  };
  const uris = new Map<string, string>();
  const unfollow = async (session: string) => {
    const uri = uris.get(session);
    if (uri === undefined) return;
    uris.delete(session);
    followed.delete(uri);
    await client.unsubscribeResource({ uri });
  };
  return {
    handshake: async () => {
      const { oxbow } = client.getServerCapabilities()?.experimental ?? {};
      return { ok: true, handshake: structuredClone(oxbow) as JsonObject };
    },
    command: async ({ kind, session, payload }) => {
      const [name, args] = COMMANDS[String(kind)]?.(isJsonObject(payload) ? payload : {}) ?? ["", {}];
      return replyOf(
        await client.callTool({ name, arguments: { ...args, ...(session !== undefined && { session }) } }),
      );
    },
    query: async () => ({ ok: false, failure: { reason: "InvalidInput", message: "there is no tool for it" } }),
    follow: async ({ session, after, onEvent }) => {
      await unfollow(session);
      const uri = `oxbow://session/${session}/events${after === undefined ? "" : `?since=${after}`}`;
      uris.set(session, uri);
      followed.set(uri, onEvent);
      try {
        await client.subscribeResource({ uri });
        return { ok: true };
      } catch (error) {
        return { ok: false, failure: { reason: "SessionNotFound", message: String(error) } };
      }
    },
    unfollow,
    drop: () => client.close(),
  };
}

function replyOf(result: object): ConformanceReply {
  const { structuredContent: value = {}, isError = false } = result as {
    readonly structuredContent?: JsonObject;
    readonly isError?: boolean;
  };
  if (isError && isJsonObject(value.error)) return { ok: false, failure: value.error };
  return { ok: true, ...value, value };
}

function textOf(content: JsonValue | undefined): string {
  return Array.isArray(content) ? content.map((block) => (isJsonObject(block) ? String(block.text) : "")).join("") : "";
}
