/** One WebSocket from its opening to its end: the handshake, then numbered questions and their answers, and events. */
import type { Envelope } from "../../protocol/envelope.js";
import type { Failure } from "../../protocol/errors.js";
import { type Handshake, PROTOCOL_VERSION, versionProblem } from "../../protocol/handshake.js";
import type { ClientId } from "../../protocol/ids.js";
import { ConnectionError } from "./connection-error.js";
import { unreachable } from "./event-stream.js";
import type { WebSocketConstructor, WebSocketEvent, WebSocketLike } from "./options.js";

export interface FramesOptions {
  readonly WebSocket: WebSocketConstructor;
  readonly url: URL;
  readonly token: string;
  readonly hello: { readonly name?: string; readonly can_answer?: boolean; readonly id?: ClientId };
  readonly onEvent: (event: Envelope) => void;
  readonly onFrame: () => void;
  readonly onClose: (error: Error) => void;
}

type Reply = { readonly ok: boolean; readonly failure?: Failure };

interface Frame {
  readonly frame?: string;
  readonly id?: number;
  readonly body?: unknown;
}

export class SocketFrames {
  readonly handshake: Promise<Handshake>;
  readonly #options: FramesOptions;
  readonly #socket: WebSocketLike;
  readonly #waiting = new Map<number, (reply: Reply | undefined) => void>();
  #next = 1;
  #closed = false;
  #greeted: (handshake: Handshake) => void = () => {};
  #refused: (error: Error) => void = () => {};

  constructor(options: FramesOptions) {
    this.#options = options;
    this.handshake = new Promise((resolve, reject) => {
      this.#greeted = resolve;
      this.#refused = reject;
    });
    this.handshake.catch(() => {});
    // A browser cannot set headers here: the token travels as the name of a subprotocol, which no log shows.
    this.#socket = new options.WebSocket(options.url.href, ["oxbow.v1", `oxbow.token.${options.token}`]);
    this.#socket.addEventListener("open", () => this.#greet());
    this.#socket.addEventListener("message", (event) => this.#onMessage(event));
    this.#socket.addEventListener("error", (event) => this.#onEnd(event.message ?? "the connection failed"));
    this.#socket.addEventListener("close", (event) => this.#onEnd(event.reason || "the connection was closed"));
  }

  /** Undefined when the connection ends before the answer. */
  ask(frame: "command" | "query", body: object): Promise<Reply | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    const id = this.#next++;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#socket.send(JSON.stringify({ frame, id, body }));
    });
  }

  close(): void {
    this.#socket.close(1000);
    this.#onEnd("this client is closed");
  }

  #greet(): void {
    const body = { protocol_version: PROTOCOL_VERSION, client: this.#options.hello };
    this.#socket.send(JSON.stringify({ frame: "handshake", body }));
  }

  #onMessage({ data }: WebSocketEvent): void {
    this.#options.onFrame();
    const { frame, id, body } = JSON.parse(String(data)) as Frame;
    if (frame === "event") this.#options.onEvent(body as Envelope);
    if (frame === "handshake") this.#onHandshake(body as Handshake);
    if (frame !== "reply") return;
    const reply = body as Reply;
    if (id === undefined && reply.failure !== undefined) this.#refused(new ConnectionError(reply.failure));
    this.#waiting.get(id ?? 0)?.(reply);
    this.#waiting.delete(id ?? 0);
  }

  #onHandshake(handshake: Handshake): void {
    const problem = versionProblem(PROTOCOL_VERSION, handshake.protocol_version);
    if (problem === undefined) {
      this.#greeted(handshake);
      return;
    }
    this.#refused(new ConnectionError(problem));
    this.close();
  }

  #onEnd(detail: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#refused(new ConnectionError(unreachable(this.#options.url.origin, detail)));
    for (const answer of this.#waiting.values()) answer(undefined);
    this.#waiting.clear();
    this.#options.onClose(new Error(detail));
  }
}
