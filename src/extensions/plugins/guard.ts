/**
 * Keeps the faults of a plugin away from a turn.
 *
 * 1. The first fault of a link, hook or subscriber switches the whole plugin off for the rest of the process, with one message.
 * 2. What the plugin did not do happens without it: a link that fails before `next` is skipped, one that fails afterwards gives the
 *    result of `next`. A failure of `next` itself is not the plugin's.
 * 3. An error of a tool is a result for the model, and of a provider a failure of the request: the plugin stays on.
 */
import { onAbort } from "../../base/abort-tree.js";
import type { Clock } from "../../base/clock.js";
import type { Link, ModelEvent, ModelStream, Next, RequestLink } from "../../engine/ports.js";

export interface GuardOptions {
  readonly plugin: string;
  readonly clock: Clock;
  readonly report: (message: string) => void;
}

/** A hook may ask a server; a longer wait is a fault. */
const HOOK_MS = 30_000;

export class PluginGuard {
  readonly #options: GuardOptions;
  #isOff = false;

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  get isOff(): boolean {
    return this.#isOff;
  }

  switchOff(where: string, error: unknown): void {
    if (this.#isOff) return;
    this.#isOff = true;
    const { plugin, report } = this.#options;
    const why = error instanceof Error ? error.message : String(error);
    report(`The plugin ${plugin} is switched off: ${where} failed: ${why.split("\n", 1)[0]}`);
  }

  /** Undefined when the plugin is off or the function fails. */
  call<T>(where: string, action: () => T): T | undefined {
    if (this.#isOff) return undefined;
    try {
      return action();
    } catch (error) {
      this.switchOff(where, error);
      return undefined;
    }
  }

  /** The same for a function that may wait; it has a deadline. */
  async wait<T>(where: string, action: () => Promise<T> | T): Promise<T | undefined> {
    if (this.#isOff) return undefined;
    const { clock } = this.#options;
    let stopTimer = () => {};
    const late = new Promise<never>((_resolve, reject) => {
      stopTimer = clock.after(HOOK_MS, () => reject(new Error(`it did not end within ${HOOK_MS / 1000} seconds`)));
    });
    try {
      return await Promise.race([Promise.resolve().then(action), late]);
    } catch (error) {
      this.switchOff(where, error);
      return undefined;
    } finally {
      stopTimer();
    }
  }

  /** A link whose answer is a stream, which may still fail when it is read. */
  requestLink(link: RequestLink): RequestLink {
    return this.link(link, {
      prepare: (stream) => new RecordedStream(stream),
      settle: (outer, inner) => (inner instanceof RecordedStream ? this.#stream(link.name, outer, inner) : outer),
    });
  }

  /** A link that never fails by itself. `prepare` changes what it gets from `next`, and `settle` what it returns. */
  link<Input, Context extends { readonly signal: AbortSignal }, Output>(
    link: Link<Input, Context, Output>,
    { prepare = (output) => output, settle = (output) => output }: LinkRepair<Output> = {},
  ): Link<Input, Context, Output> {
    return {
      name: link.name,
      run: async (input, context, next) => {
        if (this.#isOff) return next(input, context);
        const inner = new InnerCalls(next, prepare);
        try {
          const output = await unlessAborted(Promise.resolve(link.run(input, context, inner.call)), context.signal);
          if (output === undefined) throw new Error("it returned nothing");
          return settle(output, inner.last);
        } catch (error) {
          if (inner.failed?.error === error || context.signal.aborted) throw error;
          this.switchOff(link.name, error);
          if (inner.failed !== undefined) throw inner.failed.error;
          return (await inner.running) ?? next(input, context);
        }
      },
    };
  }

  /**
   * The events of a link's stream. When the link's own code fails, the events of the inner stream follow from the first batch for which
   * the link has given none.
   */
  #stream(where: string, outer: ModelStream, inner: RecordedStream): ModelStream {
    const guard = this;
    return (async function* () {
      let given = 0;
      try {
        for await (const batch of outer) {
          given++;
          yield batch;
        }
      } catch (error) {
        if (inner.failed?.error === error) throw error;
        guard.switchOff(where, error);
        yield* inner.from(given);
      } finally {
        await inner.close();
      }
    })();
  }
}

/** A link that does not react to the end of its turn must not hold it up. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stopListening = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    stopListening = onAbort(signal, () => reject(new Error("cancelled")));
  });
  // A link that stops by itself gives its own result.
  aborted.catch(() => {});
  return Promise.race([work, Promise.resolve().then(() => aborted)]).finally(stopListening);
}

interface LinkRepair<Output> {
  readonly prepare?: (output: Output) => Output;
  /** `inner`: the newest result of `next`, if there is one. */
  readonly settle?: (output: Output, inner: Output | undefined) => Output;
}

/** What a link did with `next`. */
class InnerCalls<Input, Context, Output> {
  readonly call: Next<Input, Context, Output>;
  /** The newest call. */
  running: Promise<Output> | undefined;
  last: Output | undefined;
  failed: { readonly error: unknown } | undefined;

  constructor(next: Next<Input, Context, Output>, prepare: (output: Output) => Output) {
    this.call = async (input, context) => {
      this.failed = undefined;
      const running = next(input, context).then(prepare);
      this.running = running;
      try {
        this.last = await running;
        return this.last;
      } catch (error) {
        this.failed = { error };
        throw error;
      }
    };
  }
}

/** A stream that keeps its batches, so that it can be read again. The end of a reader does not end it. */
export class RecordedStream implements AsyncIterable<readonly ModelEvent[]> {
  readonly #inner: AsyncIterator<readonly ModelEvent[]>;
  readonly #batches: (readonly ModelEvent[])[] = [];
  failed: { readonly error: unknown } | undefined;

  constructor(stream: ModelStream) {
    this.#inner = stream[Symbol.asyncIterator]();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly ModelEvent[]> {
    for (;;) {
      const next = await this.#next();
      if (next === undefined) return;
      yield next;
    }
  }

  /** Ends the stream if it has not ended. */
  async close(): Promise<void> {
    await this.#inner.return?.();
  }

  async *from(position: number): AsyncGenerator<readonly ModelEvent[]> {
    yield* this.#batches.slice(position);
    for (let next = await this.#next(); next !== undefined; next = await this.#next()) yield next;
  }

  async #next(): Promise<readonly ModelEvent[] | undefined> {
    try {
      const { done, value } = await this.#inner.next();
      if (done) return undefined;
      this.#batches.push(value);
      return value;
    } catch (error) {
      this.failed = { error };
      throw error;
    }
  }
}
