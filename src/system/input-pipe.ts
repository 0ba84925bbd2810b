/**
 * A pipe for one short text to a process, which may be started by another one. The text waits in the pipe until it is read,
 * and when this process is gone the reader finds the end.
 */
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { dropFifo, type Fifo, giveBack, takeFifo } from "./fifo.js";

/** As much as a pipe takes in one piece, whatever is in it. */
export const INPUT_PIPE_BYTES = 4096;

export class InputPipe {
  readonly #fifo: Fifo;
  /** Opened at both ends: it can be written to before there is a reader. */
  #writeEnd: number | undefined;
  #readEnd: number | undefined;
  #isClosed = false;

  private constructor(fifo: Fifo) {
    this.#fifo = fifo;
    this.#writeEnd = openSync(fifo.path, constants.O_RDWR | constants.O_NONBLOCK);
    try {
      this.#readEnd = openSync(fifo.path, constants.O_RDONLY);
    } catch (error) {
      closeSync(this.#writeEnd);
      throw error;
    }
  }

  /** Undefined where such pipes cannot be had. */
  static async open(): Promise<InputPipe | undefined> {
    const fifo = await takeFifo();
    if (fifo === undefined) return undefined;
    try {
      return new InputPipe(fifo);
    } catch {
      dropFifo(fifo);
      return undefined;
    }
  }

  /** For the child; it ends with `started`. */
  get readEnd(): number {
    if (this.#readEnd === undefined) throw new Error("The pipe was started already.");
    return this.#readEnd;
  }

  /** The child has its own copy of the read end. */
  started(): void {
    if (this.#readEnd !== undefined) closeSync(this.#readEnd);
    this.#readEnd = undefined;
  }

  write(text: string): void {
    if (this.#writeEnd === undefined) throw new Error("The pipe has ended.");
    writeSync(this.#writeEnd, text);
  }

  /** A reader that waits finds the end. */
  end(): void {
    this.started();
    if (this.#writeEnd !== undefined) closeSync(this.#writeEnd);
    this.#writeEnd = undefined;
  }

  /** `isUnheld`: the process with the read end is dead. */
  close({ isUnheld }: { readonly isUnheld: boolean }): void {
    this.end();
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (isUnheld) giveBack(this.#fifo);
    else dropFifo(this.#fifo);
  }
}
