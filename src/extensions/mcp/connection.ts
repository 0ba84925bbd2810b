/**
 * One connection to a server, by the official client.
 *
 * 1. Both generations of the protocol work: the client asks for the newer one first. A program that ends at that question is
 *    started again and asked in the older way.
 * 2. What a server asks for in return (a form, an answer of the model, the folders) goes to the port of the session whose call runs.
 * 3. No answer of a server is waited for without a limit.
 */
import type { CallToolResult, Client, ClientCapabilities, Progress, Transport } from "@modelcontextprotocol/client";
import { VERSION } from "../../base/version.js";
import type { JsonObject } from "../../protocol/json.js";
import type { ListedTool } from "./offered-tools.js";
import { compile, loadAjv } from "./schemas.js";
import type { ServerConfig } from "./server-config.js";
import type { ServerRequests } from "./server-requests.js";
import { keepSoundEntries } from "./sound-lists.js";
import { callAsTask } from "./tasks.js";

export interface TransportPorts {
  /** A new process with each call. */
  readonly openProcess: (
    onLog: (text: string) => void,
  ) => Promise<Transport & { readonly problem: string | undefined }>;
  readonly openRemote: (kind: "http" | "sse", onLog: (text: string) => void) => Promise<Transport>;
}

export interface ConnectionOptions extends TransportPorts {
  readonly config: ServerConfig;
  readonly requests: ServerRequests;
  readonly signal: AbortSignal;
  readonly onClose: () => void;
  /** The tools or prompts changed. */
  readonly onListChanged: () => void;
  readonly onLog: (line: string) => void;
  /** Ends the sentence "The MCP server 'NAME' …". */
  readonly onProblem: (problem: string) => void;
  /** Sees every message. */
  readonly traffic?: { watch(transport: Transport): void };
}

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly needsTask: boolean;
  readonly onProgress: (text: string) => void;
}

export interface ServerPrompt {
  readonly name: string;
  readonly description?: string | undefined;
  readonly arguments?: readonly { readonly name: string; readonly required?: boolean | undefined }[] | undefined;
}

export interface ServerResource {
  readonly uri: string;
  readonly name?: string | undefined;
  readonly mimeType?: string | undefined;
}

/** `problem` ends the sentence "The server …". */
type AnyTransport = Transport & { readonly problem?: string | undefined };

const CAPABILITIES: ClientCapabilities = {
  elicitation: { form: { applyDefaults: true }, url: {} },
  roots: { listChanged: false },
};
/** A program that answers nothing to a question that it does not know speaks the older protocol. */
const PROBE_MS = 5000;
/** Longer than any call: progress may extend it that far. */
const MOST_CALL_MS = 3600_000;
const MOST_PAGES = 32;

export class Connection {
  readonly #client: Client;
  readonly #transport: AnyTransport;
  readonly #config: ServerConfig;

  constructor(client: Client, transport: Transport, config: ServerConfig) {
    this.#client = client;
    this.#transport = transport;
    this.#config = config;
  }

  /** Tells why it ended, where that is known. */
  get problem(): string | undefined {
    return this.#transport.problem;
  }

  get protocolVersion(): string | undefined {
    return this.#client.getNegotiatedProtocolVersion();
  }

  get instructions(): string | undefined {
    return this.#client.getInstructions();
  }

  get serverName(): string | undefined {
    const { name, version } = this.#client.getServerVersion() ?? {};
    return name === undefined ? undefined : `${name} ${version ?? ""}`.trim();
  }

  async tools(signal: AbortSignal): Promise<readonly ListedTool[]> {
    // The library would print a line on the standard output, which belongs to the clients of `oxbow acp`.
    if (this.#client.getServerCapabilities()?.tools === undefined) return [];
    const options = { signal, timeout: this.#config.startTimeoutMs, cacheMode: "refresh" as const };
    return (await this.#client.listTools(undefined, options)).tools as readonly ListedTool[];
  }

  async call(name: string, args: JsonObject, options: CallOptions): Promise<CallToolResult> {
    const { signal, timeoutMs, onProgress, needsTask } = options;
    const settings = {
      signal,
      timeout: timeoutMs,
      maxTotalTimeout: MOST_CALL_MS,
      resetTimeoutOnProgress: true,
      onprogress: ({ progress, total, message }: Progress) => {
        const share = total === undefined ? String(progress) : `${progress}/${total}`;
        onProgress(message === undefined ? share : `${share} ${message}`);
      },
    };
    if (needsTask) return callAsTask(this.#client, { name, args }, { ...settings, timeoutMs });
    return this.#client.callTool({ name, arguments: args }, settings);
  }

  async resources(signal: AbortSignal): Promise<readonly ServerResource[]> {
    if (this.#client.getServerCapabilities()?.resources === undefined) return [];
    return (await this.#client.listResources(undefined, this.#short(signal))).resources;
  }

  async readResource(uri: string, signal: AbortSignal) {
    return (await this.#client.readResource({ uri }, this.#short(signal))).contents;
  }

  async prompts(signal: AbortSignal): Promise<readonly ServerPrompt[]> {
    if (this.#client.getServerCapabilities()?.prompts === undefined) return [];
    return (await this.#client.listPrompts(undefined, this.#short(signal))).prompts;
  }

  async prompt(name: string, args: Readonly<Record<string, string>>, signal: AbortSignal) {
    return (await this.#client.getPrompt({ name, arguments: { ...args } }, this.#short(signal))).messages;
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  #short(signal: AbortSignal) {
    return { signal, timeout: this.#config.startTimeoutMs };
  }
}

export async function connect(options: ConnectionOptions): Promise<Connection> {
  const { transport } = options.config;
  if (transport.kind === "stdio") return connectProcess(options);
  if (transport.kind === "sse") return openRemote(options, "sse");
  try {
    return await openRemote(options, "http");
  } catch (error) {
    if (!isOlderServer(error) || options.signal.aborted) throw error;
    return openRemote(options, "sse");
  }
}

async function openRemote(options: ConnectionOptions, kind: "http" | "sse"): Promise<Connection> {
  const transport: AnyTransport = await options.openRemote(kind, options.onLog);
  try {
    return await open(options, transport, kind === "http" ? "auto" : "legacy");
  } catch (error) {
    throw explained(error, transport.problem);
  }
}

async function connectProcess(options: ConnectionOptions): Promise<Connection> {
  const first = await options.openProcess(options.onLog);
  try {
    return await open(options, first, "auto");
  } catch (error) {
    await first.close().catch(() => {});
    // Some servers end when they are asked something before they are initialized.
    if (!/^exited with code|^was ended by/.test(first.problem ?? "") || options.signal.aborted)
      throw explained(error, first.problem);
    const second = await options.openProcess(options.onLog);
    return open(options, second, "legacy").catch((again) => Promise.reject(explained(again, second.problem)));
  }
}

/** Says what happened to the server: that helps more than that its connection closed. */
function explained(error: unknown, problem: string | undefined): unknown {
  return problem === undefined || problem === "was stopped" ? error : new Error(`it ${problem}`);
}

/** It does not know streamable HTTP: the specification names these answers. */
function isOlderServer(error: unknown): boolean {
  const status = (error as { status?: unknown }).status ?? (error as { data?: { status?: unknown } }).data?.status;
  return status === 400 || status === 404 || status === 405;
}

async function open(options: ConnectionOptions, transport: Transport, mode: "auto" | "legacy"): Promise<Connection> {
  const { config, requests, signal, onLog, onProblem } = options;
  const probeMs = config.transport.kind === "stdio" ? Math.min(PROBE_MS, config.startTimeoutMs) : config.startTimeoutMs;
  const [{ Client }, Ajv] = await Promise.all([import("@modelcontextprotocol/client"), loadAjv()]);
  const client = new Client(
    { name: "oxbow", version: VERSION },
    {
      capabilities: config.sampling === "off" ? CAPABILITIES : { ...CAPABILITIES, sampling: {} },
      versionNegotiation: { mode, probe: { timeoutMs: probeMs } },
      listMaxPages: MOST_PAGES,
      listChanged: {
        tools: { autoRefresh: false, onChanged: () => options.onListChanged() },
        prompts: { autoRefresh: false, onChanged: () => options.onListChanged() },
      },
      jsonSchemaValidator: {
        getValidator: <T>(schema: unknown) => {
          const { check } = compile(Ajv, schema);
          return (value: unknown) => {
            const [problem] = check(value);
            if (problem === undefined) return { valid: true, data: value as T, errorMessage: undefined };
            return { valid: false, data: undefined, errorMessage: problem };
          };
        },
      },
    },
  );
  client.onerror = (error) => onLog(error.message);
  const revision = () => {
    const era = client.getProtocolEra() ?? "legacy";
    return { era, hasHeaders: era === "modern" && config.transport.kind !== "stdio" };
  };
  options.traffic?.watch(transport);
  keepSoundEntries(transport, { onProblem, revision });
  client.setRequestHandler("elicitation/create", ({ params }, context) =>
    requests.elicit(params, context.mcpReq.signal),
  );
  client.setRequestHandler("roots/list", () => requests.roots());
  if (config.sampling !== "off")
    client.setRequestHandler("sampling/createMessage", ({ params }, context) =>
      requests.sample(params, context.mcpReq.signal),
    );
  client.setNotificationHandler("notifications/message", ({ params: { level, data } }) =>
    onLog(`${level}: ${typeof data === "string" ? data : JSON.stringify(data)}`),
  );
  try {
    await client.connect(transport, { signal, timeout: config.startTimeoutMs });
  } catch (error) {
    await client.close().catch(() => {});
    await transport.close().catch(() => {});
    throw error;
  }
  client.onclose = options.onClose;
  return new Connection(client, transport, config);
}
