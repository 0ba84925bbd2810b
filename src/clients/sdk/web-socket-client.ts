/**
 * The engine over one WebSocket. After a drop it connects again and attaches to each of its sessions from the last event that arrived.
 * A command whose answer is lost is not sent again; a query is.
 */
import { type Clock, systemClock } from "../../base/clock.js";
import type { CommandReply, Identity, QueryReply } from "../../protocol/client.js";
import type { CommandKind, CommandPayloads } from "../../protocol/commands.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { Failure } from "../../protocol/errors.js";
import type { Handshake } from "../../protocol/handshake.js";
import type { ClientId, SessionId } from "../../protocol/ids.js";
import type { Queries, QueryKind } from "../../protocol/queries.js";
import { Backoff } from "./backoff.js";
import { ConnectionError } from "./connection-error.js";
import { Deliveries, endOf } from "./deliveries.js";
import { unreachable } from "./event-stream.js";
import type { ConnectOptions, WebSocketConstructor } from "./options.js";
import { SilenceWatch } from "./silence-watch.js";
import { SocketFrames } from "./socket-frames.js";
import type { DetachListener, WireClient } from "./wire-client.js";

const SILENCE_MS = 60_000;

export class WebSocketClient implements WireClient {
  readonly #options: ConnectOptions;
  readonly #clock: Clock;
  readonly #backoff: Backoff;
  readonly #deliveries = new Deliveries();
  readonly #followed = new Set<SessionId>();
  /** Sessions whose last event was an end. */
  readonly #ended = new Set<SessionId>();
  readonly #detached = new Set<DetachListener>();
  /** Sessions that the client itself looks after: true once it has attached again. An attach that is asked for waits for it. */
  readonly #settling = new Map<SessionId, Promise<boolean>>();
  #frames: SocketFrames | undefined;
  #handshake: Handshake | undefined;
  /** Resolves when the connection works again, or is closed for good. */
  #ready: Promise<void>;
  #closed = false;
  #wake: (() => void) | undefined;

  private constructor(options: ConnectOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#backoff = new Backoff(options.random ?? Math.random);
    this.#ready = Promise.resolve();
    options.signal?.addEventListener("abort", () => void this.close(), { once: true });
  }

  /** Throws a ConnectionError. */
  static async connect(options: ConnectOptions): Promise<WebSocketClient> {
    options.signal?.throwIfAborted();
    const client = new WebSocketClient(options);
    await client.#open();
    return client;
  }

  get handshake(): Handshake {
    if (this.#handshake === undefined) throw new Error("there was no handshake yet");
    return this.#handshake;
  }

  get id(): ClientId {
    return clientOf(this.handshake);
  }

  get identity(): Identity {
    return this.handshake.identity ?? "agent";
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
      if (await this.#hasAttached(session)) return { ok: true };
      this.#begin(session, payload as CommandPayloads["AttachSession"]);
    }
    const { after } = kind === "CreateSession" ? (payload as CommandPayloads["CreateSession"]) : {};
    // This client leaves it, so its end is no news.
    const leaves = after !== undefined && this.#followed.delete(after);
    const reply = await this.#command({ kind, payload, ...(session !== undefined && { session }) });
    if (leaves && !reply.ok) this.#followed.add(after);
    const followed =
      kind === "CreateSession" && reply.ok ? reply.session : kind === "AttachSession" ? session : undefined;
    if (followed !== undefined && reply.ok) await this.#follow(followed);
    if (after !== undefined && reply.ok) this.#unfollow(after);
    if (kind === "DetachSession" && session !== undefined) this.#unfollow(session);
    return reply;
  }

  async query<K extends QueryKind>(
    kind: K,
    request: Queries[K]["request"],
    session?: SessionId,
  ): Promise<QueryReply<K>> {
    const body = { kind, request, ...(session !== undefined && { session }) };
    for (;;) {
      await this.#ready;
      if (this.#closed) return { ok: false, failure: this.#unreachable("this client is closed") };
      const reply = await this.#frames?.ask("query", body);
      // Without an answer the connection has dropped, and the next round waits for the new one.
      if (reply !== undefined) return reply as QueryReply<K>;
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#wake?.();
    this.#frames?.close();
    this.#options.onState?.("closed");
  }

  async #command(body: object): Promise<CommandReply> {
    await this.#ready;
    const reply = this.#closed ? undefined : await this.#frames?.ask("command", body);
    return (reply as CommandReply | undefined) ?? { ok: false, failure: this.#unreachable("the connection was lost") };
  }

  #begin(session: SessionId, { after, after_ts: ts }: CommandPayloads["AttachSession"]): void {
    if (after === undefined || this.#followed.has(session)) return;
    this.#deliveries.begin(session, { after, ...(ts !== undefined && { after_ts: ts }) });
  }

  /** From here on the position of the session is known, also before its first event. */
  async #follow(session: SessionId): Promise<void> {
    this.#followed.add(session);
    if (this.#deliveries.position(session) !== undefined) return;
    const status = await this.query("GetStatus", {}, session);
    if (status.ok && this.#deliveries.position(session) === undefined) {
      this.#deliveries.begin(session, endOf(status.answer));
    }
  }

  #unfollow(session: SessionId): void {
    this.#followed.delete(session);
    this.#deliveries.forget(session);
  }

  async #open(): Promise<void> {
    const { url, token, name, canAnswer, silenceMs = SILENCE_MS } = this.#options;
    const place = new URL(url);
    place.pathname = `${place.pathname.replace(/\/$/, "")}/v1/ws`;
    const before = this.#handshake?.client;
    const frames: SocketFrames = new SocketFrames({
      WebSocket: this.#options.WebSocket ?? ownWebSocket(),
      url: place,
      token: typeof token === "string" ? token : await token(),
      hello: {
        ...(name !== undefined && { name }),
        ...(canAnswer === false && { can_answer: false }),
        ...(before !== undefined && { id: before }),
      },
      onEvent: (event) => this.#onEvent(event),
      onFrame: () => watch.sawTraffic(),
      onClose: (error) => {
        watch.stop();
        if (this.#frames === frames) this.#onClose(error);
      },
    });
    const watch = new SilenceWatch(
      { clock: this.#clock, silenceMs },
      { onSilence: () => frames.close(), probe: () => void frames.ask("query", { kind: "GetHealth", request: {} }) },
    );
    this.#handshake = await frames.handshake;
    if (this.#closed) return frames.close();
    this.#frames = frames;
  }

  #onEvent(event: Envelope): void {
    this.#ended.delete(event.session);
    if (event.kind === "SessionEnded") this.#ended.add(event.session);
    this.#deliveries.deliver(event);
    if (event.kind === "SessionEnded") this.#settle(event.session, () => this.#checkEnd(event.session));
  }

  /** One at a time for a session: two at once would each find what the other has done. */
  #settle(session: SessionId, look: () => Promise<boolean>): void {
    const before = this.#settling.get(session) ?? Promise.resolve();
    const settled = before.then(look).finally(() => {
      if (this.#settling.get(session) === settled) this.#settling.delete(session);
    });
    this.#settling.set(session, settled);
  }

  /** The log of a resumed session has older ends in it. Without an answer the connection has dropped, and the next one looks. */
  async #checkEnd(session: SessionId): Promise<boolean> {
    const status = await this.#frames?.ask("query", { kind: "GetStatus", request: {}, session });
    if (status?.ok === false && this.#followed.has(session)) this.#notifyDetached(session);
    return false;
  }

  #onClose(error: Error): void {
    this.#frames = undefined;
    if (!this.#closed) this.#ready = this.#reconnect(error);
  }

  async #reconnect(first: Error): Promise<void> {
    const { retry, onState } = this.#options;
    for (let error = first; !this.#closed; ) {
      onState?.("reconnecting", error);
      const goesOn = (await retry?.(this.#backoff.failures + 1, error)) ?? true;
      if (!goesOn || isFinal(error)) return this.#giveUp(error);
      await this.#pause(this.#backoff.next());
      if (this.#closed) return;
      try {
        await this.#open();
        this.#backoff.succeeded();
        for (const session of this.#followed) this.#settle(session, () => this.#attachAgain(session));
        onState?.("connected");
        return;
      } catch (problem) {
        error = problem as Error;
      }
    }
  }

  #giveUp(error: Error): void {
    const reason = error instanceof ConnectionError ? error.failure : this.#unreachable(error.message);
    for (const session of [...this.#followed]) this.#notifyDetached(session, reason);
    void this.close();
  }

  /** Waits until the client itself is done with the session. True: it has attached, so there is nothing left to ask for. */
  async #hasAttached(session: SessionId): Promise<boolean> {
    for (;;) {
      await this.#ready;
      const settling = this.#settling.get(session);
      if (settling === undefined) return false;
      if (await settling) return true;
    }
  }

  async #attachAgain(session: SessionId): Promise<boolean> {
    const frames = this.#frames;
    if (!this.#followed.has(session)) return false;
    const asked = { kind: "GetStatus", request: {}, session };
    if (this.#ended.has(session) && (await frames?.ask("query", asked))?.ok === false) {
      this.#notifyDetached(session);
      return false;
    }
    const payload = this.#deliveries.position(session) ?? { after: 0 };
    const reply = await frames?.ask("command", { kind: "AttachSession", payload, session });
    if (reply?.failure !== undefined) this.#notifyDetached(session, reply.failure);
    return reply?.ok === true;
  }

  #notifyDetached(session: SessionId, reason?: Failure): void {
    this.#unfollow(session);
    for (const listener of this.#detached) listener(session, reason);
  }

  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(ms, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
    this.#wake = undefined;
  }

  #unreachable(detail: string): Failure {
    return unreachable(new URL(this.#options.url).origin, detail);
  }
}

/** The engine is there and refuses: another attempt would change nothing. */
function isFinal(error: Error): boolean {
  return error instanceof ConnectionError && error.failure.reason !== "NetworkFailed";
}

function clientOf({ client }: Handshake): ClientId {
  if (client === undefined) throw new Error("the engine gave this client no id");
  return client;
}

function ownWebSocket(): WebSocketConstructor {
  const { WebSocket } = globalThis as { readonly WebSocket?: unknown };
  if (typeof WebSocket === "function") return WebSocket as WebSocketConstructor;
  throw new Error("This Node has no WebSocket: pass that of the package ws as the option WebSocket, or use http:.");
}
