/**
 * One server under supervision.
 *
 * 1. A server that ends is started again, at most three times within a minute, after 1, 2 and 4 seconds. Then it is down: its tools
 *    stay listed, and each call of one says so.
 * 2. What a second start cannot mend (a missing program, a changed one, a missing sign-in) is not tried again.
 * 3. A call that runs when the server ends fails; the next one waits for the new start. No call is sent twice.
 */
import type { CallToolResult } from "@modelcontextprotocol/client";
import type { Clock } from "../../base/clock.js";
import { safeText } from "../../base/terminal-text.js";
import type { JsonObject } from "../../protocol/json.js";
import type { Connection, ConnectionOptions, ServerPrompt, TransportPorts } from "./connection.js";
import type { KnownTools } from "./known-tools.js";
import { type OfferedTool, offeredTools } from "./offered-tools.js";
import type { ServerConfig } from "./server-config.js";
import { ServerLog } from "./server-log.js";
import { ServerRequests, type ServerUser } from "./server-requests.js";

export type ServerState = "stopped" | "starting" | "ready" | "restarting" | "down";

export interface ServerOptions extends TransportPorts {
  readonly config: ServerConfig;
  readonly root: string;
  readonly clock: Clock;
  readonly known: KnownTools;
  /** Why it must not start; undefined if it may. */
  readonly refusal: () => Promise<string | undefined>;
  readonly connect: (options: ConnectionOptions) => Promise<Connection>;
}

/** A session that uses it. */
export interface ServerWatcher {
  /** The tools, prompts or the state changed. */
  changed?(): void;
  down?(about: { readonly name: string; readonly reason: string; readonly attempts: number }): void;
  /** One line for the user. */
  report?(message: string): void;
}

/** The server cannot be used; the message says why and what helps. */
export class ServerUnavailable extends Error {
  override readonly name = "ServerUnavailable";
}

const MOST_RESTARTS = 3;
const WINDOW_MS = 60_000;
const BACKOFF_MS = [1000, 2000, 4000];
/** Changes that come faster than this are looked at together. */
const SETTLE_MS = 200;

export class McpServer {
  readonly config: ServerConfig;
  readonly log = new ServerLog();
  readonly #options: ServerOptions;
  readonly #requests: ServerRequests;
  readonly #watchers = new Set<ServerWatcher>();
  #state: ServerState = "stopped";
  #problem: string | undefined;
  #connection: Connection | undefined;
  #starting: Promise<void> | undefined;
  #abort = new AbortController();
  #restarts: number[] = [];
  #cancelTimer = () => {};
  #tools: readonly OfferedTool[] = [];
  #withheld: readonly OfferedTool[] = [];
  #prompts: readonly ServerPrompt[] = [];
  /** Counts up with every change of tools or prompts. */
  version = 0;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.config = options.config;
    this.#requests = new ServerRequests(options.config.name, options.root);
  }

  get root(): string {
    return this.#options.root;
  }

  get state(): ServerState {
    return this.#state;
  }

  /** Why it is not ready. */
  get problem(): string | undefined {
    return this.#problem;
  }

  get tools(): readonly OfferedTool[] {
    return this.#tools;
  }

  /** Tools that changed since a person approved them. */
  get withheld(): readonly OfferedTool[] {
    return this.#withheld;
  }

  get prompts(): readonly ServerPrompt[] {
    return this.#prompts;
  }

  get connection(): Connection | undefined {
    return this.#connection;
  }

  get restarts(): number {
    return this.#recent().length;
  }

  /** Whether all tools are offered at once. */
  get isEager(): boolean {
    return this.#tools.length + this.#withheld.length <= this.config.eagerTools;
  }

  get key(): string {
    return `${this.config.path}\n${this.config.name}`;
  }

  watch(watcher: ServerWatcher): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** Begins to connect, if that has not begun. Never throws. */
  begin(): void {
    if (this.#state === "stopped") void this.#start("starting").catch(() => {});
  }

  /** Waits until it is ready; rejects with a ServerUnavailable. */
  async ready(signal: AbortSignal): Promise<Connection> {
    this.begin();
    const { clock, config } = this.#options;
    let cancel = () => {};
    let stop = () => {};
    const late = new Promise<never>((_, reject) => {
      const give = (why: string) => reject(new ServerUnavailable(`MCP server '${config.name}' ${why}.`));
      cancel = clock.after(config.startTimeoutMs, () => give("is not ready yet"));
      stop = () => give("was not waited for");
      signal.addEventListener("abort", stop, { once: true });
      if (signal.aborted) stop();
    });
    late.catch(() => {});
    try {
      for (;;) {
        if (this.#connection !== undefined && this.#state === "ready") return this.#connection;
        if (this.#state === "down" || this.#state === "stopped") throw new ServerUnavailable(this.whyNot());
        await Promise.race([this.#starting ?? this.#nextChange(), late]);
      }
    } finally {
      cancel();
      signal.removeEventListener("abort", stop);
    }
  }

  whyNot(): string {
    const { name } = this.config;
    return `MCP server '${name}' is not available: ${this.#problem ?? "it is not running"}`;
  }

  async call(
    tool: OfferedTool,
    args: JsonObject,
    about: { readonly user: ServerUser; readonly signal: AbortSignal; readonly onProgress: (text: string) => void },
  ): Promise<CallToolResult> {
    const connection = await this.ready(about.signal);
    const end = this.#requests.begin(about.user);
    try {
      const { signal, onProgress } = about;
      const { needsTask } = tool;
      return await connection.call(tool.name, args, {
        ...{ signal, onProgress, needsTask },
        timeoutMs: this.config.callTimeoutMs,
      });
    } catch (error) {
      if (this.#connection === connection) throw error;
      throw new ServerUnavailable(
        `MCP server '${this.config.name}' ended during the call: it ${connection.problem ?? "closed the connection"}. Whether the call took effect is unknown.`,
      );
    } finally {
      end();
    }
  }

  /** Runs with the questions of the server going to this session. */
  async with<T>(user: ServerUser, work: () => Promise<T>): Promise<T> {
    const end = this.#requests.begin(user);
    try {
      return await work();
    } finally {
      end();
    }
  }

  /** A person approves what it offers now. */
  async approveTools(): Promise<number> {
    const count = this.#withheld.length;
    // The first list is taken as it is; an empty approval would come before it.
    if (count === 0) return 0;
    await this.#options.known.approve(this.key, this.#withheld);
    this.#tools = [...this.#tools, ...this.#withheld].sort((one, other) => (one.name < other.name ? -1 : 1));
    this.#withheld = [];
    this.#changed();
    return count;
  }

  describeWithheld(): string {
    return safeText(this.#options.known.describe(this.key, this.#withheld));
  }

  /** With a new budget of restarts. */
  async restart(signal: AbortSignal): Promise<void> {
    await this.stop();
    this.#restarts = [];
    await this.ready(signal);
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    this.#abort = new AbortController();
    this.#cancelTimer();
    const connection = this.#connection;
    const starting = this.#starting;
    this.#connection = undefined;
    this.#state = "stopped";
    this.#problem = undefined;
    await starting?.catch(() => {});
    await connection?.close().catch(() => {});
    this.#state = "stopped";
    this.#changed();
  }

  #start(state: "starting" | "restarting"): Promise<void> {
    this.#state = state;
    const { signal } = this.#abort;
    const starting = this.#open(signal).then(
      () => {
        if (this.#starting === starting) this.#starting = undefined;
      },
      (error: unknown) => {
        if (this.#starting === starting) this.#starting = undefined;
        if (!signal.aborted) this.#failed(error);
      },
    );
    this.#starting = starting;
    return starting;
  }

  async #open(signal: AbortSignal): Promise<void> {
    const { config, connect, refusal, openProcess, openRemote } = this.#options;
    const refused = await refusal();
    if (refused !== undefined) throw new Final(refused);
    let made: Connection | undefined;
    const connection = await connect({
      ...{ config, openProcess, openRemote, signal },
      requests: this.#requests,
      onClose: () => this.#ended(made),
      onListChanged: () => this.#lookAgain(made),
      onLog: (line) => this.log.add(line),
    });
    made = connection;
    if (signal.aborted) {
      await connection.close();
      return;
    }
    this.#connection = connection;
    try {
      await this.#list(connection, signal);
    } catch (error) {
      this.#connection = undefined;
      await connection.close().catch(() => {});
      throw error;
    }
    if (this.#connection !== connection) throw new Error(connection.problem ?? "it closed the connection");
    this.#state = "ready";
    this.#problem = undefined;
    this.log.add(`connected${connection.serverName === undefined ? "" : ` to ${connection.serverName}`}`);
    this.#changed();
  }

  async #list(connection: Connection, signal: AbortSignal): Promise<void> {
    const [listed, prompts] = await Promise.all([
      connection.tools(signal),
      connection.prompts(signal).catch((error: Error) => {
        this.log.add(`its prompts cannot be listed: ${error.message}`);
        return [];
      }),
    ]);
    const { tools, problems } = offeredTools(listed, this.config);
    for (const problem of problems) this.#report(`The MCP server '${this.config.name}' ${problem}.`);
    const { approved, withheld } = await this.#options.known.compare(this.key, tools);
    this.#tools = approved;
    this.#withheld = withheld;
    this.#prompts = prompts;
  }

  /** A burst of notifications is one reason to look. */
  #lookAgain(connection: Connection | undefined): void {
    if (connection === undefined || this.#connection !== connection || this.#state !== "ready") return;
    this.#cancelTimer();
    this.#cancelTimer = this.#options.clock.after(SETTLE_MS, () => {
      void this.#list(connection, this.#abort.signal).then(
        () => this.#changed(),
        (error: Error) => this.log.add(`its tools cannot be listed again: ${error.message}`),
      );
    });
  }

  #ended(connection: Connection | undefined): void {
    if (connection === undefined || this.#connection !== connection) return;
    this.#connection = undefined;
    // Its start fails by itself.
    if (this.#state !== "ready") return;
    this.#failed(new Error(`it ${connection.problem ?? "closed the connection"}`));
  }

  #failed(error: unknown): void {
    const reason = safeText(error instanceof Error ? error.message : String(error)).trim();
    this.log.add(reason);
    const { clock } = this.#options;
    const tried = this.#recent();
    this.#problem = reason;
    if (error instanceof Final || tried.length >= MOST_RESTARTS) {
      this.#state = "down";
      this.#changed();
      const { name } = this.config;
      for (const watcher of this.#watchers) watcher.down?.({ name, reason, attempts: tried.length });
      return;
    }
    this.#state = "restarting";
    this.#changed();
    this.#cancelTimer();
    this.#cancelTimer = clock.after(BACKOFF_MS[tried.length] ?? WINDOW_MS, () => {
      this.#restarts = [...tried, clock.now()];
      void this.#start("restarting");
      this.#wake();
    });
  }

  #recent(): readonly number[] & number[] {
    const { clock } = this.#options;
    return this.#restarts.filter((at) => clock.now() - at < WINDOW_MS);
  }

  #changed(): void {
    this.version++;
    this.#wake();
    for (const watcher of this.#watchers) watcher.changed?.();
  }

  #waiting: (() => void)[] = [];

  #nextChange(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  #report(message: string): void {
    this.log.add(message);
    for (const watcher of this.#watchers) watcher.report?.(message);
  }
}

/** A new start would not help. */
export class Final extends Error {}
