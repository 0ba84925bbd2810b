/**
 * A real pipe for a command's output. Node gives its children a pair of sockets for each stream instead; then `echo x
 * >/dev/stderr` fails in the child, stdout and stderr arrive in any order, and after the command's end it is unclear whether more
 * output follows.
 *
 * 1. A pipe serves one command at a time and is reused only after its end was read, when no process holds its other side.
 * 2. `drain` reads everything that was written before the call, and then knows whether a writer is left.
 */
import { closeSync, constants, openSync, readSync } from "node:fs";
import { Socket } from "node:net";
import { dropFifo, type Fifo, giveBack, takeFifo } from "./fifo.js";

const CHUNK_BYTES = 65_536;
/** More than a pipe can hold: a writer that never stops must not block us. */
const MAX_DRAIN_READS = 32;

let scratch: Buffer | undefined;

export class OutputPipe {
  readonly #fifo: Fifo;
  readonly #readEnd: number;
  readonly #socket: Socket;
  #writeEnd: number | undefined;
  #onData: (chunk: Buffer) => void = () => {};
  #ended = false;
  #closed = false;

  private constructor(fifo: Fifo) {
    this.#fifo = fifo;
    this.#readEnd = openSync(fifo.path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      this.#writeEnd = openSync(fifo.path, constants.O_WRONLY);
    } catch (error) {
      closeSync(this.#readEnd);
      throw error;
    }
    this.#socket = new Socket({ fd: this.#readEnd, readable: true, writable: false });
  }

  /** Undefined if the system does not support them. */
  static async open(): Promise<OutputPipe | undefined> {
    const fifo = await takeFifo();
    if (fifo === undefined) return undefined;
    try {
      return new OutputPipe(fifo);
    } catch {
      dropFifo(fifo);
      return undefined;
    }
  }

  get link(): string {
    return this.#fifo.link;
  }

  /** For the child; `start` closes it here. */
  get writeEnd(): number {
    if (this.#writeEnd === undefined) throw new Error("The pipe has already started.");
    return this.#writeEnd;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Call it once the child has its own copy of the write end. */
  start(onData: (chunk: Buffer) => void): void {
    this.#closeWriteEnd();
    this.#onData = onData;
    this.#socket.on("data", onData);
    this.#socket.on("end", () => {
      this.#ended = true;
    });
    this.#socket.on("error", () => {
      this.#ended = true;
    });
  }

  drain(): void {
    if (this.#ended || this.#closed) return;
    this.#socket.pause();
    scratch ??= Buffer.allocUnsafeSlow(CHUNK_BYTES);
    for (let reads = 0; reads < MAX_DRAIN_READS; reads++) {
      const length = this.#read(scratch);
      if (length === undefined) break;
      this.#onData(Buffer.from(scratch.subarray(0, length)));
    }
    if (!this.#ended) this.#socket.resume();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#closeWriteEnd();
    this.#socket.destroy();
    if (this.#ended) giveBack(this.#fifo);
    else dropFifo(this.#fifo);
  }

  #read(buffer: Buffer): number | undefined {
    try {
      const length = readSync(this.#readEnd, buffer);
      if (length > 0) return length;
      this.#ended = true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") this.#ended = true;
    }
    return undefined;
  }

  #closeWriteEnd(): void {
    if (this.#writeEnd !== undefined) closeSync(this.#writeEnd);
    this.#writeEnd = undefined;
  }
}
