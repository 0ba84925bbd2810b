/**
 * Frees the memory of finished work. V8 keeps garbage until it needs the space: after an answer of 10,000 lines that is
 * 20 to 35 MiB, for minutes, because a program that waits for a person allocates nothing.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

type Collect = () => void;

/** Less than this is not worth the tens of milliseconds that it takes. */
const LEAST_BYTES = 4 * 1024 * 1024;

export class MemoryRelease {
  #collect: Collect | undefined;
  #kept: number;

  /** `before`: the bytes of the heap in use before the work. */
  constructor(before: number) {
    this.#kept = before;
  }

  /** Collects if much was allocated since the last time. */
  release(): void {
    if (process.memoryUsage().heapUsed - this.#kept < LEAST_BYTES) return;
    this.#collect ??= findCollect();
    this.#collect();
    this.#kept = process.memoryUsage().heapUsed;
  }
}

/** The function is there only in contexts that are made after the flag is set. */
function findCollect(): Collect {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as Collect;
  setFlagsFromString("--no-expose-gc");
  return collect;
}
