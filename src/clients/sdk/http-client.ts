/**
 * The engine over HTTP: one request for each command and query, one stream of server-sent events for each attached session.
 *
 * 1. A command is sent once. If its answer is lost, the sender gets NetworkFailed and can look at the events for its effect; the reply
 *    says so if the command was not sent.
 * 2. A query changes nothing, so it is asked again while the connection is being made again.
 */
import { type Clock, systemClock } from "../../base/clock.js";
import type { CommandReply, Identity, QueryReply } from "../../protocol/client.js";
import type { CommandKind, CommandPayloads } from "../../protocol/commands.js";
import type { Envelope } from "../../protocol/envelope.js";
import { type Failure, failure } from "../../protocol/errors.js";
import type { Handshake } from "../../protocol/handshake.js";
import type { ClientId, SessionId } from "../../protocol/ids.js";
import type { Queries, QueryKind } from "../../protocol/queries.js";
import { Deliveries, endOf, type Position } from "./deliveries.js";
import { EventStream, failureIn, unreachable } from "./event-stream.js";
import { type ExchangeAnswer, isUnsent } from "./exchange.js";
import type { ConnectionState } from "./options.js";
import { type Greeting, type HttpOptions, headersOf, shakeHands } from "./shake-hands.js";
import type { DetachListener, WireClient } from "./wire-client.js";

const SILENCE_MS = 60_000;
const QUERY_ATTEMPTS = 3;
const LEAVE_MS = 1000;

export class HttpClient implements WireClient {
  readonly #options: HttpOptions;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #deliveries = new Deliveries();
  readonly #streams = new Map<SessionId, EventStream>();
  readonly #closed = new AbortController();
  #handshake: Greeting;
  #greeting: Promise<void> | undefined;
  /** Sessions that ended while this client was in them, each with its last event. */
  readonly #ended = new Map<SessionId, Position>();
  readonly #detached = new Set<DetachListener>();
  /** The session that this client leaves for a new one: its end is no news. */
  #leaving: SessionId | undefined;
  /** The sessions whose stream is being made again. */
  readonly #lost = new Set<SessionId>();
  #state: ConnectionState = "connected";

  private constructor(options: HttpOptions, handshake: Greeting) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#handshake = handshake;
    options.signal?.addEventListener("abort", () => void this.close(), { once: true });
  }

  /** Throws a ConnectionError. */
  static async connect(options: HttpOptions): Promise<HttpClient> {
    options.signal?.throwIfAborted();
    return new HttpClient(options, await shakeHands(options));
  }

  get id(): ClientId {
    return this.#handshake.client;
  }

  get identity(): Identity {
    return this.#handshake.identity ?? "agent";
  }

  get handshake(): Handshake {
    return this.#handshake;
  }

  subscribe(listener: (event: Envelope) => void): () => void {
    return this.#deliveries.subscribe(listener);
  }

  onDetached(listener: DetachListener): () => void {
    this.#detached.add(listener);
    return () => this.#detached.delete(listener);
  }

  async send<K extends CommandKind>(kind: K, payload: CommandPayloads[K], session?: SessionId): Promise<CommandReply> {
    if (kind === "AttachSession" && session !== undefined) {
      return this.#attach(session, payload as CommandPayloads["AttachSession"]);
    }
    if (kind === "DetachSession" && session !== undefined) this.#unfollow(session);
    if (kind === "SendInput" && session !== undefined) await this.#followAgain(session);
    if (kind === "CreateSession") return this.#createSession(payload as CommandPayloads["CreateSession"]);
    return this.#command({ kind, payload, ...(session !== undefined && { session }) });
  }

  async #createSession(payload: CommandPayloads["CreateSession"]): Promise<CommandReply> {
    const { resume, after } = payload;
    this.#leaving = after;
    const reply = await this.#command({ kind: "CreateSession", payload });
    this.#leaving = undefined;
    if (!reply.ok || reply.session === undefined) return reply;
    if (after !== undefined) this.#unfollow(after);
    const problem = await this.#follow(reply.session, resume === undefined ? { after: 0 } : undefined);
    return problem === undefined ? reply : { ok: false, failure: problem };
  }

  async query<K extends QueryKind>(
    kind: K,
    request: Queries[K]["request"],
    session?: SessionId,
  ): Promise<QueryReply<K>> {
    const body = { kind, request, ...(session !== undefined && { session }) };
    for (let attempt = 1; ; attempt++) {
      const reply = (await this.#post("/v1/queries", body)) as QueryReply<K> | { readonly lost: Failure };
      if (!("lost" in reply)) return reply;
      if (attempt === QUERY_ATTEMPTS || this.#closed.signal.aborted) return { ok: false, failure: reply.lost };
      await new Promise<void>((resolve) => this.#clock.after(100 * attempt, resolve));
    }
  }

  /** Ends the streams. Sessions and their turns continue. Resolves when the engine knows that this client has left. */
  async close(): Promise<void> {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort();
    for (const stream of this.#streams.values()) stream.stop();
    this.#streams.clear();
    this.#options.onState?.("closed");
    await this.#leave();
  }

  /** An engine that does not answer has lost the client already. */
  async #leave(): Promise<void> {
    const gone = new AbortController();
    const stop = this.#clock.after(LEAVE_MS, () => gone.abort());
    try {
      const headers = await this.#headers();
      const answer = await this.#options.exchange({
        method: "DELETE",
        path: "/v1/handshake",
        headers,
        signal: gone.signal,
      });
      await answer.text();
    } catch {
      // It forgets the client after a while.
    } finally {
      stop();
    }
  }

  async #attach(session: SessionId, { after, after_ts: ts }: CommandPayloads["AttachSession"]): Promise<CommandReply> {
    if (this.#isFollowed(session)) {
      if (after === undefined) return { ok: true };
      const detail = "This client is already attached. Detach it first.";
      return { ok: false, failure: failure("InvalidInput", { detail }) };
    }
    const position = after === undefined ? undefined : { after, ...(ts !== undefined && { after_ts: ts }) };
    const problem = await this.#follow(session, position);
    return problem === undefined ? { ok: true } : { ok: false, failure: problem };
  }

  #isFollowed(session: SessionId): boolean {
    return this.#streams.get(session)?.isStopped === false;
  }

  /** Without `after`, from now on. */
  async #follow(session: SessionId, after: Position | undefined): Promise<Failure | undefined> {
    if (this.#isFollowed(session)) return undefined;
    let from = after;
    if (from === undefined) {
      const opened = await this.#command({ kind: "AttachSession", payload: {}, session });
      if (!opened.ok) return opened.failure;
      const status = await this.query("GetStatus", {}, session);
      if (!status.ok) return status.failure;
      from = endOf(status.answer);
    }
    this.#deliveries.begin(session, from);
    const stream = new EventStream({
      session,
      place: this.#options.place,
      deliveries: this.#deliveries,
      clock: this.#clock,
      random: this.#random,
      silenceMs: this.#options.silenceMs ?? SILENCE_MS,
      open: async ({ path, after: last, signal }) => {
        // A new engine does not know this client yet, and would take the stream for one of a program without a name.
        const unknown = this.#lost.has(session)
          ? await this.#greetAgain(signal).catch((error: Error) => error)
          : undefined;
        const answer = await this.#options.exchange({
          method: "GET",
          path: `${path}?${new URLSearchParams({ ...last, after: String(last.after) })}`,
          headers: { ...(await this.#headers()), accept: "text/event-stream", "last-event-id": String(last.after) },
          signal,
        });
        // The engine began to listen, or renewed the token, in between: the next attempt greets it.
        if (unknown !== undefined && answer.status === 200) throw unknown;
        return answer;
      },
      retry: (attempt, error) => this.#options.retry?.(attempt, error) ?? true,
      isLive: async () => (await this.query("GetStatus", {}, session)).ok,
      onState: (state, error) => this.#onStream(session, state, error),
      onEnd: (reason) => this.#onEnd(session, reason),
    });
    this.#streams.set(session, stream);
    const problem = await stream.opened;
    if (problem !== undefined) this.#unfollow(session);
    return problem;
  }

  /** Input opens an ended session again; this client sees what comes of it. */
  async #followAgain(session: SessionId): Promise<void> {
    const after = this.#ended.get(session);
    this.#ended.delete(session);
    if (after !== undefined) await this.#follow(session, after);
  }

  #unfollow(session: SessionId): void {
    this.#streams.get(session)?.stop();
    this.#streams.delete(session);
    this.#deliveries.forget(session);
    this.#lost.delete(session);
  }

  #onStream(session: SessionId, state: "connected" | "lost", error?: Error): void {
    if (this.#closed.signal.aborted) return;
    if (state === "lost") this.#lost.add(session);
    else this.#lost.delete(session);
    this.#notifyState(error);
  }

  #notifyState(error?: Error): void {
    const state = this.#lost.size === 0 ? "connected" : "reconnecting";
    if (state === this.#state && error === undefined) return;
    this.#state = state;
    this.#options.onState?.(state, error);
  }

  /** An engine that is out of reach is so for all sessions. */
  #onEnd(session: SessionId, reason?: Failure): void {
    if (reason === undefined && session === this.#leaving) {
      this.#unfollow(session);
      return;
    }
    const isLost = reason?.reason === "NetworkFailed";
    if (reason === undefined) this.#ended.set(session, this.#deliveries.position(session) ?? { after: 0 });
    for (const ended of isLost ? [...this.#streams.keys()] : [session]) {
      this.#unfollow(ended);
      for (const listener of this.#detached) listener(ended, reason);
    }
    if (isLost) void this.close();
  }

  async #command(body: object): Promise<CommandReply> {
    const reply = (await this.#post("/v1/commands", body)) as
      | CommandReply
      | { readonly lost: Failure; readonly unsent?: true };
    if (!("lost" in reply)) return reply;
    const { lost, ...rest } = reply;
    return { ok: false, failure: lost, ...rest };
  }

  async #post(path: string, body: object, again = true): Promise<unknown> {
    if (this.#closed.signal.aborted) return { lost: this.#unreachable("this client is closed") };
    let answer: ExchangeAnswer;
    let text: string;
    try {
      answer = await this.#options.exchange({
        method: "POST",
        path,
        headers: { ...(await this.#headers()), "content-type": "application/json" },
        body: JSON.stringify(body),
        signal: this.#closed.signal,
      });
      text = await answer.text();
    } catch (error) {
      const lost = this.#unreachable(error instanceof Error ? error.message : String(error));
      return { lost, ...(isUnsent(error) && { unsent: true }) };
    }
    const problem = answer.status >= 400 ? failureIn(text) : undefined;
    if (problem?.reason === "HandshakeRequired" && again) {
      await this.#greetAgain(this.#closed.signal);
      return this.#post(path, body, false);
    }
    if (problem !== undefined) return { ok: false, failure: problem };
    try {
      return JSON.parse(text);
    } catch {
      return { lost: this.#unreachable(`it answers with status ${answer.status} and no JSON`) };
    }
  }

  /** The streams and requests that need it at the same time share one handshake, so that they stay one client. */
  #greetAgain(signal: AbortSignal): Promise<void> {
    this.#greeting ??= shakeHands({ ...this.#options, signal }, this.#handshake.client)
      .then((handshake) => {
        this.#handshake = handshake;
      })
      .finally(() => {
        this.#greeting = undefined;
      });
    return this.#greeting;
  }

  async #headers(): Promise<Record<string, string>> {
    return { ...(await headersOf(this.#options)), "x-oxbow-client": this.#handshake.client };
  }

  #unreachable(detail: string): Failure {
    return unreachable(this.#options.place, detail);
  }
}
