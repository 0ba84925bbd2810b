/**
 * One reader of server-sent events.
 *
 * 1. A comment goes out every 30 seconds, so that proxies keep the connection open.
 * 2. A reader that falls behind is disconnected: at most `MOST_WAITING` and one event wait for it.
 */
import type { ServerResponse } from "node:http";
import type { Clock } from "../../base/clock.js";

export const HEARTBEAT_MS = 30_000;
/** Characters that wait to be read. */
export const MOST_WAITING = 1024 * 1024;

export interface EventStreamOptions {
  readonly clock: Clock;
  readonly onClose: () => void;
}

export class EventStream {
  readonly #response: ServerResponse;
  readonly #clock: Clock;
  #stopTimer = () => {};

  constructor(response: ServerResponse, { clock, onClose }: EventStreamOptions) {
    this.#response = response;
    this.#clock = clock;
    response.on("error", () => {});
    response.once("close", () => {
      this.#stopTimer();
      onClose();
    });
    response.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      // Asks proxies not to buffer the response.
      "x-accel-buffering": "no",
    });
    response.flushHeaders();
    this.#beatLater();
  }

  /** `data` is one line. */
  send(data: string): void {
    this.#write(`data: ${data}\n\n`);
  }

  end(): void {
    this.#stopTimer();
    this.#response.end();
  }

  #write(frame: string): void {
    if (this.#response.writableLength > MOST_WAITING) this.#response.destroy();
    else this.#response.write(frame);
  }

  #beatLater(): void {
    this.#stopTimer = this.#clock.after(HEARTBEAT_MS, () => {
      this.#beatLater();
      this.#write(": heartbeat\n\n");
    });
  }
}
