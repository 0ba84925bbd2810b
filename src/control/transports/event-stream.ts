/**
 * One reader of server-sent events.
 *
 * 1. A comment goes out every 30 seconds, so that proxies keep the connection open.
 * 2. An event goes to the socket at once. Node would hold it until all promises of this moment have settled, and with many turns at once that
 *    takes a second.
 * 3. A reader that falls behind is disconnected: at most `MOST_WAITING` bytes and what the socket holds wait for it.
 */
import type { ServerResponse } from "node:http";
import type { Clock } from "../../base/clock.js";
import { Outbox } from "../outbox.js";

const HEARTBEAT_MS = 30_000;
/** Bytes that wait to be read. */
const MOST_WAITING = 1024 * 1024;
/** Sets how long stored events wait for a reader that does not read. */
const STALL_MS = 30_000;

export interface EventStreamOptions {
  readonly clock: Clock;
  readonly onClose: () => void;
}

export class EventStream {
  readonly #response: ServerResponse;
  readonly #clock: Clock;
  readonly #outbox: Outbox;
  #stopTimer = () => {};

  constructor(response: ServerResponse, { clock, onClose }: EventStreamOptions) {
    this.#response = response;
    this.#clock = clock;
    this.#outbox = new Outbox({
      limitBytes: MOST_WAITING,
      write: (text) => writeNow(response, text),
      cut: () => response.destroy(),
    });
    response.on("error", () => {});
    response.on("drain", () => this.#outbox.drained());
    response.once("close", () => {
      this.#stopTimer();
      this.#outbox.close();
      onClose();
    });
    response.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      // Asks proxies not to buffer the response.
      "x-accel-buffering": "no",
    });
    response.flushHeaders();
    this.#beatLater();
  }

  /** `data` is one line; so is each line of `head`, such as `id: 5`. */
  send(data: string, head = ""): void {
    this.#outbox.send(`${head}data: ${data}\n\n`);
  }

  /** A whole frame. */
  sendFrame(frame: string): void {
    this.#outbox.send(frame);
  }

  /** Resolves when the reader has caught up; false if it is gone, or does not read. */
  async ready(): Promise<boolean> {
    while (this.#response.writableNeedDrain && !this.#outbox.closed) {
      if (!(await this.#drains())) this.#response.destroy();
    }
    return !this.#outbox.closed && !this.#response.destroyed;
  }

  end(): void {
    this.#stopTimer();
    this.#response.end();
  }

  #drains(): Promise<boolean> {
    return new Promise((resolve) => {
      const response = this.#response;
      const settle = (drained: boolean) => {
        stopTimer();
        response.off("drain", onDrain).off("close", onDrain);
        resolve(drained);
      };
      const onDrain = () => settle(true);
      const stopTimer = this.#clock.after(STALL_MS, () => settle(false));
      response.once("drain", onDrain).once("close", onDrain);
    });
  }

  #beatLater(): void {
    this.#stopTimer = this.#clock.after(HEARTBEAT_MS, () => {
      this.#beatLater();
      this.#outbox.send(": heartbeat\n\n");
    });
  }
}

function writeNow(response: ServerResponse, text: string): boolean {
  const takesMore = response.write(text);
  response.socket?.uncork();
  return takesMore;
}
