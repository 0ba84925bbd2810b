/** The body of one HTTP answer, between Node's stream and a reader that pulls. */
import type { IncomingMessage } from "node:http";
import type { Clock } from "../base/clock.js";
import type { HttpResponse } from "./http-client.js";
import { HttpError, networkDetail } from "./http-error.js";

/** The number of unread bytes at which we stop reading from the server. */
const HIGH_WATER_BYTES = 1 << 20;
/** Sets how long the rest of an unwanted body may take before its connection is closed. */
const DRAIN_MS = 1000;
/** Sets how long a small body may take as a whole. */
const TEXT_MS = 10_000;

export interface HttpBodyOptions {
  readonly clock: Clock;
  readonly idleMs?: number;
  readonly onClose: () => void;
}

export class HttpBody implements AsyncIterable<Uint8Array> {
  readonly #incoming: IncomingMessage;
  readonly #clock: Clock;
  readonly #idleMs: number | undefined;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #ended = false;
  #released = false;
  #error: HttpError | undefined;
  #wake: (() => void) | undefined;

  constructor(incoming: IncomingMessage, { clock, idleMs, onClose }: HttpBodyOptions) {
    this.#incoming = incoming;
    this.#clock = clock;
    this.#idleMs = idleMs;
    incoming.on("data", this.#take);
    incoming.on("end", () => {
      this.#ended = true;
      this.#wake?.();
    });
    incoming.on("error", (error) => this.#break(error));
    incoming.on("close", () => {
      onClose();
      if (!this.#ended) this.#break({ name: "", message: "", code: "ECONNRESET" });
    });
  }

  response(): HttpResponse {
    const { statusCode, headers } = this.#incoming;
    const flat: Record<string, string> = {};
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(", ") : value;
    }
    return {
      status: statusCode ?? 0,
      headers: flat,
      body: this,
      text: (limitBytes) => this.#text(limitBytes),
      release: () => this.#release(),
      destroy: () => {
        if (!this.#ended && !this.#released) this.#incoming.destroy();
      },
    };
  }

  /** Ends the exchange with our own error. */
  fail(error: HttpError): void {
    this.#error ??= error;
    this.#incoming.destroy();
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const piece = this.#takeAll();
        if (piece !== undefined) yield piece;
        else if (this.#error !== undefined) throw this.#error;
        else if (this.#ended) return;
        else await this.#more();
      }
    } finally {
      if (!this.#ended && !this.#released) this.#incoming.destroy();
    }
  }

  readonly #take = (piece: Buffer): void => {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes > HIGH_WATER_BYTES) this.#incoming.pause();
    this.#wake?.();
  };

  #takeAll(): Uint8Array | undefined {
    const [first, second] = this.#pieces;
    if (first === undefined) return undefined;
    const all = second === undefined ? first : Buffer.concat(this.#pieces, this.#bytes);
    this.#pieces = [];
    this.#bytes = 0;
    if (this.#incoming.isPaused()) this.#incoming.resume();
    return all;
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      const stopTimer =
        this.#idleMs === undefined
          ? () => {}
          : this.#clock.after(this.#idleMs, () =>
              this.fail(new HttpError("timeout", `the server sent nothing for ${(this.#idleMs ?? 0) / 1000}s`)),
            );
      this.#wake = () => {
        this.#wake = undefined;
        stopTimer();
        resolve();
      };
    });
  }

  #break(error: NodeJS.ErrnoException): void {
    this.#error ??= new HttpError("dropped", networkDetail(error), error.code);
    this.#wake?.();
  }

  async #text(limitBytes: number): Promise<string> {
    const stopTimer = this.#clock.after(TEXT_MS, () => this.fail(new HttpError("timeout", "the body did not end")));
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    try {
      for await (const piece of this) {
        pieces.push(piece);
        bytes += piece.length;
        if (bytes >= limitBytes) break;
      }
    } catch {
      // Return what has arrived.
    } finally {
      stopTimer();
    }
    return Buffer.concat(pieces).subarray(0, limitBytes).toString("utf8");
  }

  #release(): void {
    const incoming = this.#incoming;
    if (this.#ended || incoming.destroyed) return;
    this.#released = true;
    incoming.off("data", this.#take);
    incoming.resume();
    const stopTimer = this.#clock.after(DRAIN_MS, () => incoming.destroy());
    incoming.once("close", stopTimer);
  }
}
