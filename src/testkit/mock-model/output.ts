/**
 * Sends the bytes of one response.
 *
 * 1. Frames between two waits go out in as few writes as possible, unless the script writes each delta separately.
 * 2. `split` cuts at bytes; every piece is its own write and HTTP chunk, so no client sees them joined.
 * 3. It waits when the socket is full, so memory stays bounded.
 */
import type { ServerResponse } from "node:http";
import { setImmediate as nextTick } from "node:timers/promises";
import { onAbort } from "../../base/abort-tree.js";
import type { Reply, Split } from "./script/script.js";
import { seededRandom } from "./wires/id-mint.js";

const BATCH = 32_768;
const LARGEST_RANDOM_PIECE = 64;

export class Output {
  readonly #response: ServerResponse;
  /** Fires when the client disconnects. */
  readonly gone: AbortSignal;
  readonly #nextSize: (() => number) | undefined;
  readonly #eachDelta: boolean;
  #held = "";

  constructor(response: ServerResponse, gone: AbortSignal, reply: Pick<Reply, "split" | "flush">) {
    this.#response = response;
    this.gone = gone;
    this.#nextSize = reply.split && sizes(reply.split);
    this.#eachDelta = reply.flush === "each-delta";
  }

  get opened(): boolean {
    return this.#response.headersSent;
  }

  head(status: number, headers: Readonly<Record<string, string>>): void {
    this.#response.writeHead(status, headers);
  }

  /** One frame. Returns a promise only if the caller has to wait. */
  push(frame: string): Promise<void> | undefined {
    if (frame === "") return undefined;
    this.#held += frame;
    return this.#eachDelta || this.#held.length >= BATCH ? this.flush() : undefined;
  }

  async flush(): Promise<void> {
    if (this.gone.aborted) return;
    if (this.#held === "") {
      this.#response.flushHeaders();
      return;
    }
    const held = this.#held;
    this.#held = "";
    for (const piece of this.#pieces(held)) {
      if (this.gone.aborted) return;
      if (!this.#response.write(piece)) await this.#drained();
      if (this.#eachDelta || this.#nextSize !== undefined) await nextTick();
    }
  }

  async end(): Promise<void> {
    if (this.#nextSize !== undefined || this.#eachDelta) await this.flush();
    if (!this.gone.aborted) this.#response.end(this.#held);
    this.#held = "";
  }

  /** Sends everything before it breaks the connection. */
  async drop(how: "close" | "reset"): Promise<void> {
    if (this.opened) {
      await this.flush();
      await this.#written();
    }
    if (how === "reset") this.#response.socket?.resetAndDestroy();
    else this.#response.socket?.destroy();
  }

  #pieces(text: string): Iterable<string | Buffer> {
    return this.#nextSize === undefined ? [text] : cut(Buffer.from(text), this.#nextSize);
  }

  #drained(): Promise<void> {
    return this.#unlessGone((done) => this.#response.once("drain", done));
  }

  #written(): Promise<void> {
    return this.#unlessGone((done) => this.#response.write("", () => done()));
  }

  #unlessGone(wait: (done: () => void) => void): Promise<void> {
    return new Promise((resolve) => {
      const stop = onAbort(this.gone, resolve);
      wait(() => {
        stop();
        resolve();
      });
    });
  }
}

function sizes(split: Split): () => number {
  if ("bytes" in split) return () => split.bytes;
  const random = seededRandom(split.seed);
  return () => 1 + Math.floor(random() * LARGEST_RANDOM_PIECE);
}

function* cut(bytes: Buffer, nextSize: () => number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const size = nextSize();
    yield bytes.subarray(at, at + size);
    at += size;
  }
}
