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
import { safeLine, safeText } from "../../base/terminal-text.js";
import type { JsonObject } from "../../protocol/json.js";
import type { Connection, ServerPrompt } from "./connection.js";
import type { ServerOptions } from "./context.js";
import type { OfferedTool } from "./offered-tools.js";
import type { ServerConfig } from "./server-config.js";
import { ServerOffer } from "./server-offer.js";
import { ServerRequests, type ServerUser } from "./server-requests.js";
import {
  Final,
  NotOffered,
  patienceOf,
  type ServerState,
  ServerUnavailable,
  type ServerWatcher,
  ServerWatchers,
} from "./server-state.js";
import { ServerTraffic } from "./traffic.js";

const CHANGED = "it changed since the user approved it, and the user has to approve it again";

/** Changes that come faster than this are looked at together. */
const SETTLE_MS = 200;

const MOST_CHARACTERS = 64 * 1024;
const MOST_WORDS = 300;

/** Keeps the last lines that a server wrote beside its messages, and what happened to it. */
class ServerLog {
  #text = "";
  /** The last line that the server itself wrote since it started, for people: it is text from outside. */
  lastWords: string | undefined;

  /** Adds what the server wrote. */
  said(text: string): void {
    this.add(text);
    this.lastWords = safeLine(text.trimEnd().split("\n").at(-1) ?? "").slice(0, MOST_WORDS) || this.lastWords;
  }

  add(line: string): void {
    const safe = safeText(line.slice(-MOST_CHARACTERS)).trimEnd();
    if (safe !== "") this.#text = `${this.#text}${safe}\n`.slice(-MOST_CHARACTERS);
  }

  get text(): string {
    return this.#text;
  }
}

const MOST_RESTARTS = 3;
const WINDOW_MS = 60_000;
const BACKOFF_MS = [1000, 2000, 4000];

/** Allows a server at most three starts within a minute, after 1, 2 and 4 seconds. */
class RestartBudget {
  readonly #clock: Clock;
  #restarts: readonly number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The restarts of the last minute. */
  get used(): number {
    return this.#recent().length;
  }

  /** Tells how long to wait before the next start; undefined if there is none. */
  get waitMs(): number | undefined {
    const { used } = this;
    return used >= MOST_RESTARTS ? undefined : (BACKOFF_MS[used] ?? WINDOW_MS);
  }

  spend(): void {
    this.#restarts = [...this.#recent(), this.#clock.now()];
  }

  renew(): void {
    this.#restarts = [];
  }

  #recent(): readonly number[] {
    return this.#restarts.filter((at) => this.#clock.now() - at < WINDOW_MS);
  }
}

export class McpServer {
  readonly config: ServerConfig;
  readonly log = new ServerLog();
  readonly traffic: ServerTraffic;
  readonly #options: ServerOptions;
  readonly #requests: ServerRequests;
  readonly #watchers = new ServerWatchers();
  readonly #budget: RestartBudget;
  readonly #offer: ServerOffer;
  #state: ServerState = "stopped";
  #problem: string | undefined;
  #connection: Connection | undefined;
  #starting: Promise<void> | undefined;
  #abort = new AbortController();
  #cancelTimer = () => {};

  constructor(options: ServerOptions) {
    this.#options = options;
    this.config = options.config;
    this.traffic = new ServerTraffic(options.clock);
    this.#requests = new ServerRequests(options.config.name, options.root);
    this.#budget = new RestartBudget(options.clock);
    const { config, known } = options;
    this.#offer = new ServerOffer({ config, known, onProblem: (problem) => this.#report(problem) });
  }

  get root(): string {
    return this.#options.root;
  }

  get state(): ServerState {
    return this.#state;
  }

  /** Tells why it is not ready, for people: it may quote the server. */
  get problem(): string | undefined {
    return this.#problem === undefined ? undefined : this.#withLastWords(this.#problem);
  }

  #withLastWords(reason: string): string {
    const { lastWords } = this.log;
    return lastWords === undefined || reason.includes(lastWords) ? reason : `${reason}. It said: ${lastWords}`;
  }

  get tools(): readonly OfferedTool[] {
    return this.#offer.tools;
  }

  /** Tools, and words about itself, that changed since a person approved them. */
  get withheld(): readonly OfferedTool[] {
    return this.#offer.withheld;
  }

  get prompts(): readonly ServerPrompt[] {
    return this.#offer.prompts;
  }

  get connection(): Connection | undefined {
    return this.#connection;
  }

  /** Tells what it says about itself, if that is approved. */
  get instructions(): string | undefined {
    return this.#offer.instructions;
  }

  get restarts(): number {
    return this.#budget.used;
  }

  /** Tells whether all tools are offered at once. */
  get isEager(): boolean {
    return this.#offer.isEager;
  }

  /** Counts up with every change of tools or prompts. */
  get version(): number {
    return this.#watchers.version;
  }

  watch(watcher: ServerWatcher): () => void {
    return this.#watchers.add(watcher);
  }

  /** Begins to connect, if that has not begun. Never throws. */
  begin(): void {
    if (this.#state === "stopped") void this.#start("starting").catch(() => {});
  }

  /** Waits until it is ready; rejects with a ServerUnavailable. */
  async ready(signal: AbortSignal): Promise<Connection> {
    this.begin();
    const { clock, config } = this.#options;
    const patience = patienceOf({ clock, signal, ms: config.startTimeoutMs, name: config.name });
    try {
      for (;;) {
        if (this.#connection !== undefined && this.#state === "ready") return this.#connection;
        if (this.#state === "down" || this.#state === "stopped") throw new ServerUnavailable(this.whyNot());
        await Promise.race([this.#starting ?? this.#watchers.next(), patience.over]);
      }
    } finally {
      patience.end();
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
    // A session may know it from an earlier connection.
    if (this.offered(tool.name).fingerprint !== tool.fingerprint) throw new NotOffered(CHANGED);
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

  /** As the server offers it now; throws a NotOffered. */
  offered(name: string): OfferedTool {
    const tool = this.tools.find((each) => each.name === name);
    if (tool !== undefined) return tool;
    const isWithheld = this.withheld.some((each) => each.name === name);
    throw new NotOffered(isWithheld ? CHANGED : `MCP server '${safeLine(this.config.name)}' has no such tool`);
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
    const count = await this.#offer.approve();
    if (count > 0) this.#watchers.changed();
    return count;
  }

  describeWithheld(): string {
    return this.#offer.describeWithheld();
  }

  /** With a new budget of restarts. */
  async restart(signal: AbortSignal): Promise<void> {
    await this.stop();
    this.#budget.renew();
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
    this.#watchers.changed();
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
    this.log.lastWords = undefined;
    let made: Connection | undefined;
    const connection = await connect({
      ...{ config, openProcess, openRemote, signal },
      requests: this.#requests,
      traffic: this.traffic,
      onClose: () => this.#ended(made),
      onListChanged: () => this.#lookAgain(made),
      onLog: (text) => this.log.said(text),
      onProblem: (problem) => this.#report(problem),
    });
    made = connection;
    if (signal.aborted) {
      await connection.close();
      return;
    }
    this.#connection = connection;
    try {
      await this.#offer.read(connection, signal);
    } catch (error) {
      this.#connection = undefined;
      await connection.close().catch(() => {});
      throw error;
    }
    if (this.#connection !== connection) throw new Error(connection.problem ?? "it closed the connection");
    this.#state = "ready";
    this.#problem = undefined;
    this.log.add(`connected${connection.serverName === undefined ? "" : ` to ${connection.serverName}`}`);
    this.#watchers.changed();
  }

  /** A burst of notifications is one reason to look. */
  #lookAgain(connection: Connection | undefined): void {
    if (connection === undefined || this.#connection !== connection || this.#state !== "ready") return;
    this.#cancelTimer();
    this.#cancelTimer = this.#options.clock.after(SETTLE_MS, () => {
      void this.#offer.read(connection, this.#abort.signal).then(
        () => this.#watchers.changed(),
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
    const reason = reasonOf(error);
    this.log.add(reason);
    this.#problem = reason;
    const { waitMs, used } = this.#budget;
    if (error instanceof Final || waitMs === undefined) {
      this.#state = "down";
      this.#watchers.changed();
      this.#watchers.down({ name: this.config.name, reason: this.#withLastWords(reason), attempts: used });
      return;
    }
    this.#state = "restarting";
    this.#watchers.changed();
    this.#cancelTimer();
    this.#cancelTimer = this.#options.clock.after(waitMs, () => {
      this.#budget.spend();
      void this.#start("restarting");
      this.#watchers.wake();
    });
  }

  #report(problem: string): void {
    const message = `The MCP server '${this.config.name}' ${problem}.`;
    this.log.add(message);
    this.#watchers.report(message);
  }
}

const MOST_REASON = 500;

/** The library describes a wrong answer in hundreds of lines. */
function reasonOf(error: unknown): string {
  const words = safeText(error instanceof Error ? error.message : String(error))
    .replaceAll(/\s+/g, " ")
    .trim();
  return words.length > MOST_REASON ? `${words.slice(0, MOST_REASON)}…` : words;
}
