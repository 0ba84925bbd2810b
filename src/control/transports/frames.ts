/**
 * The protocol as frames of JSON, for transports with one connection in both directions: WebSocket and standard input and output.
 *
 * 1. The first frame is a handshake. Everything before it is refused.
 * 2. A command or query with an `id` gets one `reply` with the same id. Replies may come in another order than the requests.
 * 3. A frame that cannot be read is refused with a reply; the connection stays open.
 * 4. At most `MOST_PENDING` requests are under way at once.
 */
import type { Envelope } from "../../protocol/envelope.js";
import { type Failure, failure } from "../../protocol/errors.js";
import type { ClientHello } from "../../protocol/handshake.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import type { HostClient } from "../connected-client.js";
import { wireText } from "../wire-text.js";

const MOST_PENDING = 256;

export interface FrameOptions {
  readonly client: HostClient;
  readonly write: (text: string) => void;
  /** Runs once, after the handshake. */
  readonly onReady?: () => void;
}

export class FrameConnection {
  readonly #options: FrameOptions;
  readonly #stop: () => void;
  #pending = 0;
  #onIdle: (() => void)[] = [];
  #isReady = false;

  constructor(options: FrameOptions) {
    this.#options = options;
    this.#stop = options.client.subscribe((event) => this.event(event));
  }

  /** Resolves when every request so far has its reply. */
  async settled(): Promise<void> {
    if (this.#pending > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  close(): void {
    this.#stop();
    this.#options.client.close();
  }

  event(event: Envelope): void {
    this.#options.write(`{"frame":"event","body":${wireText(event)}}`);
  }

  /** A frame that could not be read. */
  refuse(cause: Failure, id?: JsonValue): void {
    this.#write({
      frame: "reply",
      ...(id !== undefined && { id }),
      body: { ok: false, failure: cause as unknown as JsonObject },
    });
  }

  async take({ frame, id, body }: JsonObject): Promise<void> {
    if (frame === "handshake") return this.#handshake(body);
    if (frame !== "command" && frame !== "query")
      return this.refuse(invalid('"frame" must be handshake, command or query.'), id);
    if (!isJsonObject(body)) return this.refuse(invalid('"body" must be an object.'), id);
    if (this.#pending >= MOST_PENDING) {
      return this.refuse(failure("TooManyRequests", { seconds: 1 }, { retryable: true, retry_after_ms: 1000 }), id);
    }
    this.#pending += 1;
    try {
      const reply = await this.#ask(frame, body);
      this.#write({ frame: "reply", ...(id !== undefined && { id }), body: reply as unknown as JsonObject });
    } finally {
      this.#pending -= 1;
      if (this.#pending === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
    }
  }

  #ask(frame: "command" | "query", { kind, session, payload = {}, request = {} }: JsonObject) {
    const { client } = this.#options;
    // The door of the host checks everything, the kind included.
    if (frame === "command") return client.send(kind as never, payload as never, session as never);
    return client.query(kind as never, request as never, session as never);
  }

  #handshake(body: JsonValue | undefined): void {
    const reply = this.#options.client.handshake(isJsonObject(body) ? (body as ClientHello) : {});
    if (!reply.ok) {
      this.refuse(reply.failure);
      return;
    }
    this.#write({ frame: "handshake", body: reply.handshake as unknown as JsonObject });
    if (this.#isReady) return;
    this.#isReady = true;
    this.#options.onReady?.();
  }

  #write(frame: JsonObject): void {
    this.#options.write(JSON.stringify(frame));
  }
}

function invalid(detail: string): Failure {
  return failure("InvalidInput", { detail });
}
