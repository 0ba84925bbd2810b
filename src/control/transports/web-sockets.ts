/**
 * `GET /v1/ws`: the frames of frames.ts over WebSocket.
 *
 * 1. The token is a header, or, for browsers, the protocol `oxbow.token.TOKEN` beside `oxbow.v1`. The server answers with `oxbow.v1` only.
 * 2. `?session=` attaches to a session after the handshake, and `lastEventId=` resumes after that event; `lastEventTs=` is its time.
 * 3. A reader that falls behind is disconnected and can resume; so is one that does not answer a ping.
 * 4. Close codes: 4401 the token is not valid any more, 4429 the reader is too slow, 1001 the engine ends.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { Clock } from "../../base/clock.js";
import type { Envelope } from "../../protocol/envelope.js";
import { type Failure, failure } from "../../protocol/errors.js";
import { isId, type SessionId } from "../../protocol/ids.js";
import type { JsonObject } from "../../protocol/json.js";
import { isOwner, type TokenClaims } from "../auth/claims.js";
import { identityOf } from "../auth/identity.js";
import { TokenWatch } from "../auth/token-watch.js";
import type { Tokens } from "../auth/tokens.js";
import type { Host } from "../host.js";
import { FrameConnection } from "./frames.js";
import type { PlaceKind } from "./http/call.js";
import type { Gate } from "./http/gate.js";
import { MOST_BODY_BYTES, parseObject } from "./http/read-body.js";
import { refuseSocket, statusOf } from "./http/refusal.js";

export interface WebSocketsOptions {
  readonly host: Host;
  readonly tokens: Tokens;
  readonly clock: Clock;
  readonly newClientId: () => `cli_${string}`;
  readonly gate: Gate;
  readonly open: Set<{ end(): void }>;
}

const PATH = "/v1/ws";
const PROTOCOL = "oxbow.v1";
const TOKEN_PROTOCOL = "oxbow.token.";
const PING_MS = 30_000;
/** Of one message. */
const MOST_FRAGMENTS = 64 * 1024;
const MOST_WAITING = 1024 * 1024;
/** Stored events wait while more than this is not read yet, at most for `STALL_MS`. */
const CALM = 256 * 1024;
const STALL_MS = 30_000;
const FRAMES_PER_BREATH = 16;

interface Entry {
  readonly claims: TokenClaims;
  readonly wanted: Wanted;
  readonly leave: () => void;
}

interface Wanted {
  readonly session?: SessionId;
  readonly after?: number;
  readonly after_ts?: string;
}

export class WebSockets {
  readonly #options: WebSocketsOptions;
  readonly #server: WebSocketServer;

  constructor(options: WebSocketsOptions) {
    this.#options = options;
    this.#server = new WebSocketServer({
      noServer: true,
      maxPayload: MOST_BODY_BYTES,
      maxFragments: MOST_FRAGMENTS,
      perMessageDeflate: false,
      handleProtocols: (protocols) => (protocols.has(PROTOCOL) ? PROTOCOL : false),
    });
  }

  upgrade(request: IncomingMessage, socket: Duplex, at: { readonly head: Buffer; readonly place: PlaceKind }): void {
    const entry = this.#enter(request, at.place);
    if ("failure" in entry) {
      refuseSocket(socket, { status: statusOf(entry.failure), failure: entry.failure });
      return;
    }
    socket.once("close", () => entry.leave());
    this.#server.handleUpgrade(request, socket, at.head, (opened) => {
      new SocketConnection(opened, { ...this.#options, ...entry });
    });
  }

  #enter(request: IncomingMessage, place: PlaceKind): Entry | { readonly failure: Failure } {
    const url = new URL(request.url ?? "/", "http://localhost");
    if (url.pathname !== PATH) {
      return { failure: failure("NotFound", { detail: `WebSocket connections go to ${PATH}.` }) };
    }
    const admitted = this.#options.gate.admit(request, place, protocolToken(request));
    if ("failure" in admitted) return admitted;
    const wanted = wantedOf(url.searchParams);
    if ("failure" in wanted) return wanted;
    const entered = this.#options.gate.enter(admitted.claims);
    return "failure" in entered ? entered : { claims: admitted.claims, wanted, leave: entered.leave };
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

class SocketConnection {
  readonly #socket: WebSocket;
  readonly #frames: FrameConnection;
  readonly #watch: TokenWatch;
  readonly #options: WebSocketsOptions & { readonly claims: TokenClaims; readonly wanted: Wanted };
  readonly #busy = new Set<string>();
  #last: Envelope | undefined;
  #isAlive = true;
  /** Of the frames so far. */
  #count = 0;
  /** A large frame is being read, and those behind it wait. */
  #reading: Promise<void> | undefined;
  #waiting: (() => void)[] = [];
  #stopTimer = () => {};

  constructor(
    socket: WebSocket,
    options: WebSocketsOptions & { readonly claims: TokenClaims; readonly wanted: Wanted },
  ) {
    const { host, newClientId, claims, tokens, clock, open, wanted } = options;
    this.#socket = socket;
    this.#options = options;
    const { display_name: name } = claims;
    const client = host.connect({
      id: newClientId(),
      ...identityOf(claims),
      ...(!isOwner(claims) && { token: claims.jti }),
      transport: "ws",
      ...(name !== undefined && { name }),
      handshake: "required",
      ready: () => this.#ready(),
    });
    client.subscribe((event) => {
      this.#last = event;
      if (event.kind === "TurnStarted") this.#busy.add(event.session);
      if (event.kind === "TurnEnded" && this.#busy.delete(event.session)) this.#watch.check();
    });
    this.#frames = new FrameConnection({
      client,
      write: (text) => this.#write(text),
      onReady: () => void this.#attach(),
    });
    this.#watch = new TokenWatch({
      ...{ claims, tokens, clock },
      warn: (payload) => {
        const ts = new Date(clock.wall()).toISOString();
        // It belongs to no session. An id after the last event of its session would make a client skip events.
        const { id = 0, session = wanted.session ?? "sess_none" } = this.#last ?? {};
        this.#frames.event({ id, kind: "TokenExpiring", session, originator: client.id, ts, payload });
      },
      end: (cause) => socket.close(4401, cause.reason),
      isBusy: () => this.#busy.size > 0,
    });
    socket.on("message", (data, isBinary) => this.#take(data as Buffer, isBinary));
    socket.on("pong", () => {
      this.#isAlive = true;
    });
    socket.on("error", () => {});
    socket.once("close", () => this.#closed());
    open.add(this);
    this.#pingLater();
  }

  end(): void {
    this.#socket.close(1001, "the engine ends");
  }

  /** Frames stay in order: one that takes long to read, or many in a row, delay those behind them, and the sender waits. */
  #take(data: Buffer, isBinary: boolean): void {
    const read = () => this.#read(data, isBinary) ?? this.#breath();
    const reading = this.#reading === undefined ? read() : this.#reading.then(read);
    if (reading === undefined) return;
    this.#socket.pause();
    this.#reading = reading;
    void reading.then(() => {
      if (this.#reading !== reading) return;
      this.#reading = undefined;
      this.#socket.resume();
    });
  }

  /** Other clients get their turn between the frames of one that sends many at once. */
  #breath(): Promise<void> | undefined {
    this.#count += 1;
    return this.#count % FRAMES_PER_BREATH === 0 ? new Promise((resolve) => setImmediate(resolve)) : undefined;
  }

  /** Undefined if the frame was read at once. */
  #read(data: Buffer, isBinary: boolean): Promise<void> | undefined {
    const read = isBinary ? undefined : parseObject(data);
    if (read instanceof Promise) return read.then((frame) => this.#taken(frame));
    this.#taken(read ?? { failure: failure("InvalidInput", { detail: "Frames are text, not binary." }) });
    return undefined;
  }

  #taken(read: { readonly body: JsonObject } | { readonly failure: Failure }): void {
    if ("failure" in read) this.#frames.refuse(read.failure);
    else void this.#frames.take(read.body);
  }

  /** The session of the address. */
  async #attach(): Promise<void> {
    const { session, ...payload } = this.#options.wanted;
    if (session === undefined) return;
    await this.#frames.take({ frame: "command", body: { kind: "AttachSession", session, payload } });
  }

  #write(text: string): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#socket.bufferedAmount > MOST_WAITING) {
      this.#socket.close(4429, "too slow");
      this.#socket.terminate();
    } else this.#socket.send(text, () => this.#sent());
  }

  #sent(): void {
    if (this.#socket.bufferedAmount <= CALM) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async #ready(): Promise<boolean> {
    while (this.#socket.readyState === this.#socket.OPEN && this.#socket.bufferedAmount > CALM) {
      await new Promise<void>((resolve) => {
        const stopTimer = this.#options.clock.after(STALL_MS, () => this.#socket.terminate());
        this.#waiting.push(() => {
          stopTimer();
          resolve();
        });
      });
    }
    return this.#socket.readyState === this.#socket.OPEN;
  }

  #pingLater(): void {
    this.#stopTimer = this.#options.clock.after(PING_MS, () => {
      if (!this.#isAlive) return this.#socket.terminate();
      this.#isAlive = false;
      this.#socket.ping();
      this.#pingLater();
    });
  }

  #closed(): void {
    this.#stopTimer();
    for (const resolve of this.#waiting.splice(0)) resolve();
    this.#watch.stop();
    this.#frames.close();
    this.#options.open.delete(this);
  }
}

function protocolToken({ headers }: IncomingMessage): string | undefined {
  const protocols = (headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
  return protocols.find((name) => name.startsWith(TOKEN_PROTOCOL))?.slice(TOKEN_PROTOCOL.length);
}

function wantedOf(query: URLSearchParams): Wanted | { readonly failure: Failure } {
  const session = query.get("session") ?? undefined;
  const after = query.get("lastEventId") ?? undefined;
  if (session !== undefined && !isId("sess", session))
    return { failure: failure("SessionNotFound", { session: session.slice(0, 60) }) };
  if (after !== undefined && !/^\d{1,15}$/.test(after)) {
    return {
      failure: failure("InvalidInput", { detail: '"lastEventId" must be the id of an event: a whole number.' }),
    };
  }
  const ts = query.get("lastEventTs");
  const place = after === undefined ? {} : { after: Number(after), ...(ts && { after_ts: ts }) };
  return { ...(session !== undefined && { session }), ...place };
}
