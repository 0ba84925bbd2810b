/**
 * Oxbow as an agent of the Agent Client Protocol: an editor creates sessions, sends prompts and answers questions.
 *
 * 1. It uses the engine as every client does. The person at the editor answers questions, so the client is a human's.
 * 2. Files and commands stay with Oxbow: its sandbox, its guard list and its undo apply. The editor's own file system and terminals
 *    would go round them (docs/editors.md).
 */
import { isAbsolute } from "node:path";
import {
  type AgentContext,
  agent,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  type InitializeRequest,
  type InitializeResponse,
  type ListSessionsRequest,
  type ListSessionsResponse,
  methods,
  type NewSessionRequest,
  ndJsonStream,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionConfigOption,
  type SessionModeState,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { safeLine } from "../../../base/terminal-text.js";
import type { EngineClient } from "../../../protocol/client.js";
import type { CommandPayloads } from "../../../protocol/commands.js";
import type { Failure } from "../../../protocol/errors.js";
import { isId, type SessionId } from "../../../protocol/ids.js";
import { AcpSession } from "./acp-session.js";
import { authenticate, authMethods } from "./authentication.js";
import { invalid, noSession, requestError } from "./errors.js";
import { replayHistory } from "./history.js";
import { serverEntry } from "./mcp-servers.js";
import { askAboutOrphans } from "./orphans.js";
import type { Delimit } from "./prompt-content.js";
import { SessionNews } from "./session-news.js";
import { configOptions, modesOf, setMode, setOption, statusOf } from "./session-options.js";

export interface AcpOptions {
  readonly client: EngineClient;
  readonly version: string;
  readonly input: ReadableStream<Uint8Array>;
  readonly output: WritableStream<Uint8Array>;
  readonly delimit: Delimit;
  readonly log: (message: string) => void;
}

/** Resolves when the editor has closed the connection. */
export function serveAcp(options: AcpOptions): Promise<void> {
  const server = new AcpAgent(options);
  return server.connect(ndJsonStream(options.output, options.input, { maxMessageBytes: MOST_MESSAGE_BYTES }));
}

/** Images of a prompt are in the message. */
const MOST_MESSAGE_BYTES = 64 * 1024 * 1024;
const SESSIONS_PER_PAGE = 100;
const LATER_UPDATES: ReadonlySet<string> = new Set(["config_option_update", "session_info_update", "usage_update"]);

interface Opened {
  readonly modes?: SessionModeState;
  readonly configOptions: SessionConfigOption[];
}

class AcpAgent {
  readonly #options: AcpOptions;
  readonly #sessions = new Map<SessionId, AcpSession>();
  readonly #news: SessionNews;
  #editor: AgentContext | undefined;
  /** Clients of the first version of the protocol do not name themselves, and reject updates that came later. */
  #isOldClient = false;
  #readsFiles = false;
  #showsForms = false;

  constructor(options: AcpOptions) {
    this.#options = options;
    this.#news = new SessionNews(options.client, options.log);
  }

  connect(stream: ReturnType<typeof ndJsonStream>): Promise<void> {
    const { client } = this.#options;
    const { session } = methods.agent;
    const app = agent({ name: "oxbow" })
      .onRequest(methods.agent.initialize, ({ params }) => this.#initialize(params))
      .onRequest(methods.agent.authenticate, ({ params }) => authenticate(client, params.methodId))
      .onRequest(session.new, ({ params }) => this.#create(params))
      .onRequest(session.load, ({ params }) => this.#resume(params.sessionId, params, { replays: true }))
      .onRequest(session.resume, ({ params }) =>
        this.#resume(params.sessionId, { ...params, mcpServers: params.mcpServers ?? [] }, { replays: false }),
      )
      .onRequest(session.list, ({ params }) => this.#list(params))
      .onRequest(session.close, async ({ params }) => {
        await this.#close(params.sessionId);
        return {};
      })
      .onRequest(session.setMode, async ({ params }) => {
        await setMode(this.#target(params.sessionId), params.modeId);
        return {};
      })
      .onRequest(session.setConfigOption, async ({ params }) => {
        const target = this.#target(params.sessionId);
        await setOption(target, params.configId, params.value);
        return { configOptions: await this.#news.options(target.session) };
      })
      .onRequest(session.prompt, ({ params, signal }) => this.#find(params.sessionId).prompt(params.prompt, signal))
      .onNotification(session.cancel, ({ params }) => this.#sessions.get(params.sessionId as SessionId)?.cancel());
    const connection = app.connect(stream);
    this.#editor = connection.client;
    const unsubscribe = client.subscribe((event) => this.#sessions.get(event.session)?.onEvent(event));
    return connection.closed.finally(unsubscribe);
  }

  #initialize({ clientCapabilities, clientInfo }: InitializeRequest): InitializeResponse {
    this.#isOldClient = clientInfo === undefined || clientInfo === null;
    this.#readsFiles = clientCapabilities?.fs?.readTextFile === true;
    const { form } = clientCapabilities?.elicitation ?? {};
    this.#showsForms = form !== undefined && form !== null;
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: "oxbow", title: "Oxbow", version: this.#options.version },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, audio: true, embeddedContext: true },
        mcpCapabilities: { http: true, sse: true },
        sessionCapabilities: { list: {}, resume: {}, close: {} },
      },
      authMethods: authMethods(clientCapabilities?.auth?.terminal === true),
    };
  }

  async #create({ cwd, mcpServers }: NewSessionRequest) {
    const opened = await this.#open({ cwd: absolute(cwd) }, mcpServers);
    return { sessionId: opened.id, ...(await this.#enter(opened.id)) };
  }

  async #resume(
    id: string,
    { cwd, mcpServers }: NewSessionRequest,
    { replays }: { readonly replays: boolean },
  ): Promise<Opened> {
    if (!isId("sess", id)) throw noSession(id);
    const { id: session } = await this.#open({ resume: id, cwd: absolute(cwd) }, mcpServers);
    const entered = await this.#enter(session);
    const found = this.#find(session);
    if (replays) {
      const { client } = this.#options;
      await replayHistory({ client, session, cwd: found.cwd }, async (updates) => {
        found.show(updates);
        await found.shown();
      });
    }
    return entered;
  }

  async #open(
    wanted: CommandPayloads["CreateSession"],
    mcpServers: NewSessionRequest["mcpServers"],
  ): Promise<{ readonly id: SessionId }> {
    const { client } = this.#options;
    const request = { ...wanted, ...(mcpServers.length > 0 && { mcp_servers: mcpServers.map(serverEntry) }) };
    const reply = await client.send("CreateSession", request);
    if (reply.ok && reply.session !== undefined) return { id: reply.session };
    if (reply.ok) throw new Error("Oxbow could not open the session");
    const { failure } = reply;
    if (failure.reason !== "OrphanedCalls" || request.resume === undefined) throw openError(failure, request.resume);
    const orphans = await askAboutOrphans(failure, request.resume, (params) => this.#ask(params));
    const again = await client.send("CreateSession", { ...request, orphans });
    if (again.ok && again.session !== undefined) return { id: again.session };
    throw again.ok ? new Error("Oxbow could not open the session") : openError(again.failure, request.resume);
  }

  /** From now on the editor gets the events of the session. */
  async #enter(session: SessionId): Promise<Opened> {
    const { client, delimit } = this.#options;
    const status = await statusOf({ client, session });
    const cwd = status.place?.cwd ?? "/";
    const entered: AcpSession =
      this.#sessions.get(session) ??
      new AcpSession({
        ...{ client, session, cwd, delimit },
        update: (update) => this.#update(session, update),
        ask: (request, { signal }) => this.#ask(request, signal),
        changed: (what) => void this.#news.send(what, session, entered),
        ...(this.#showsForms && { elicit: (request, { signal }) => this.#elicit(request, signal) }),
        ...(this.#readsFiles && { readFile: (path: string) => this.#readFile(session, path) }),
      });
    entered.contextWindow = status.place?.context_window;
    this.#sessions.set(session, entered);
    // The editor learns the id of the session from the answer, so this comes after it.
    setImmediate(() => void this.#news.begin(session, entered));
    const modes = modesOf(status);
    return { ...(modes && { modes }), configOptions: configOptions(status, []) };
  }

  async #update(session: SessionId, update: SessionUpdate): Promise<void> {
    if (this.#isOldClient && LATER_UPDATES.has(update.sessionUpdate)) return;
    await this.#editor?.notify(methods.client.session.update, { sessionId: session, update });
  }

  async #list({ cwd, cursor }: ListSessionsRequest): Promise<ListSessionsResponse> {
    const first = cursor === undefined || cursor === null ? 0 : Number(cursor);
    if (!Number.isSafeInteger(first) || first < 0)
      throw invalid("This agent did not issue the cursor. List the sessions from the start.");
    const limit = first + SESSIONS_PER_PAGE + 1;
    const within = cwd === undefined || cwd === null ? {} : { cwd: absolute(cwd) };
    const reply = await this.#options.client.query("ListSessions", { ...within, limit });
    if (!reply.ok) throw requestError(reply.failure);
    const found = reply.answer.sessions.slice(first);
    const sessions = found.slice(0, SESSIONS_PER_PAGE).map(({ id, cwd: folder, title, active_at }) => {
      return {
        sessionId: id,
        cwd: folder,
        updatedAt: active_at,
        ...(title !== undefined && { title: safeLine(title) }),
      };
    });
    return { sessions, ...(found.length > SESSIONS_PER_PAGE && { nextCursor: String(first + SESSIONS_PER_PAGE) }) };
  }

  async #close(id: string): Promise<void> {
    const { client, session } = this.#target(id);
    this.#find(id).cancel();
    const reply = await client.send("EndSession", {}, session);
    this.#sessions.delete(session);
    if (!reply.ok) throw requestError(reply.failure);
  }

  #find(id: string): AcpSession {
    const found = this.#sessions.get(id as SessionId);
    if (found === undefined) throw noSession(id);
    return found;
  }

  #target(id: string): { readonly client: EngineClient; readonly session: SessionId } {
    this.#find(id);
    return { client: this.#options.client, session: id as SessionId };
  }

  async #readFile(sessionId: SessionId, path: string): Promise<string> {
    if (this.#editor === undefined) throw new Error("the editor is not connected");
    return (await this.#editor.request(methods.client.fs.readTextFile, { sessionId, path })).content;
  }

  async #elicit(request: CreateElicitationRequest, signal: AbortSignal): Promise<CreateElicitationResponse> {
    if (this.#editor === undefined) throw new Error("the editor is not connected");
    const withdrawn = { cancellationSignal: signal, stopWaitingOnCancel: true };
    return this.#editor.request(methods.client.elicitation.create, request, withdrawn);
  }

  async #ask(request: RequestPermissionRequest, signal?: AbortSignal): Promise<RequestPermissionResponse> {
    if (this.#editor === undefined) throw new Error("the editor is not connected");
    const withdrawn = signal && { cancellationSignal: signal, stopWaitingOnCancel: true };
    return this.#editor.request(methods.client.session.requestPermission, request, withdrawn);
  }
}

function openError(failure: Failure, session: SessionId | undefined) {
  return requestError(failure, session === undefined ? {} : { sessionId: session });
}

function absolute(cwd: string): string {
  if (!isAbsolute(cwd)) throw invalid(`"cwd" must be an absolute path, and ${safeLine(cwd)} is not.`);
  return cwd;
}
