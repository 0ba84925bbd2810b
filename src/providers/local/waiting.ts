/** A stream that reports why it waits for its first byte, such as a model that loads. */
import type { Clock } from "../../base/clock.js";
import type { ModelEvent, ModelStream } from "../../engine/ports.js";

export interface Waiting {
  readonly clock: Clock;
  /** A message for the user; undefined if there is none. */
  describe(): Promise<string | undefined>;
}

/** A model in memory answers sooner. */
const QUIET_MS = 700;
const LOOK_AGAIN_MS = 1000;
const NOTHING_YET = Symbol("nothing yet");

export async function* whileWaiting(
  stream: ModelStream,
  { clock, describe }: Waiting,
): AsyncGenerator<readonly ModelEvent[]> {
  const iterator = stream[Symbol.asyncIterator]();
  try {
    let next = iterator.next();
    let shown: string | undefined;
    for (let ms = QUIET_MS; (await within(next, ms, clock)) === NOTHING_YET; ms = LOOK_AGAIN_MS) {
      const message = await describe();
      if (message !== undefined && message !== shown) yield [{ type: "notice", level: "progress", message }];
      shown = message ?? shown;
    }
    for (let item = await next; item.done !== true; item = await next) {
      yield item.value;
      next = iterator.next();
    }
  } finally {
    // After the caller stops listening; waiting for a silent server could take forever.
    iterator.return?.()?.then(undefined, () => {});
  }
}

function within<T>(promise: Promise<T>, ms: number, clock: Clock): Promise<unknown> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, () => resolve(NOTHING_YET));
    const settle = () => {
      cancel();
      resolve(undefined);
    };
    promise.then(settle, settle);
  });
}
