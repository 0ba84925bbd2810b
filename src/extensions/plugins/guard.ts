/**
 * Keeps the faults of a plugin away from a turn.
 *
 * 1. The first fault of a link, hook or subscriber switches the whole plugin off for the rest of the process, with one message.
 * 2. The turn continues without the plugin: a link that fails before `next` is skipped, one that fails afterwards returns the result
 *    of `next`. A failure of `next` itself is not the plugin's fault.
 * 3. An error of a tool is a result for the model, and of a provider a failure of the request: the plugin stays on.
 */
import { onAbort } from "../../base/abort-tree.js";
import type { Clock } from "../../base/clock.js";
import type {
  Link,
  ModelEvent,
  ModelRequest,
  ModelStream,
  Next,
  RequestLink,
  ToolCall,
  ToolLink,
  ToolOutcome,
} from "../../engine/ports.js";
import { failure } from "../../protocol/errors.js";
import { isJsonObject } from "../../protocol/json.js";

export interface GuardOptions {
  readonly plugin: string;
  readonly clock: Clock;
  readonly report: (message: string) => void;
}

/** A hook may call a server; a longer wait is a fault. */
const HOOK_MS = 30_000;
/** Sets how long a link may take to return its own result after a cancel. */
const GRACE_MS = 100;

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

  /** A link whose result is a stream, which may still fail during reading. */
  requestLink(link: RequestLink): RequestLink {
    return this.#link(link, {
      accepts: isRequest,
      isResult: isStream,
      prepare: (stream) => new RecordedStream(stream),
      guardResult: (outer, inner) => this.#stream(link.name, outer, inner),
    });
  }

  toolLink(link: ToolLink): ToolLink {
    return this.#link(link, { accepts: isCall, isResult: isOutcome });
  }

  /** Wraps a link so that its own faults never fail the call. */
  #link<Input, Context extends { readonly signal: AbortSignal }, Output>(
    link: Link<Input, Context, Output>,
    checks: LinkChecks<Input, Output>,
  ): Link<Input, Context, Output> {
    return {
      name: link.name,
      run: async (input, context, next) => {
        if (this.#isOff) return next(input, context);
        const inner = new InnerCalls(next, checks);
        const again = () => next(input, context);
        try {
          const output = await this.#unlessAbandoned(link.run(input, context, inner.call), context.signal, inner);
          if (!checks.isResult(output)) throw new Error("it returned a result of the wrong kind");
          return checks.guardResult?.(output, { last: inner.last, again }) ?? output;
        } catch (error) {
          if (inner.failed?.error === error) throw error;
          if (context.signal.aborted && inner.last !== undefined) return inner.last;
          if (context.signal.aborted) throw error;
          this.switchOff(link.name, error);
          if (inner.failed !== undefined) throw inner.failed.error;
          return (await inner.running) ?? again();
        }
      },
    };
  }

  /** A link that does not end with its turn must not delay it: it gets a moment after `next` has ended. */
  async #unlessAbandoned<T>(
    work: Promise<T> | T,
    signal: AbortSignal,
    inner: { readonly running: Promise<unknown> | undefined },
  ): Promise<T> {
    const { clock } = this.#options;
    let stopTimer = () => {};
    let stopListening = () => {};
    const abandoned = new Promise<never>((_resolve, reject) => {
      const later = () => {
        stopTimer = clock.after(GRACE_MS, () => reject(new Error("cancelled")));
      };
      stopListening = onAbort(signal, () => void Promise.resolve(inner.running).then(later, later));
    });
    try {
      return await Promise.race([work, abandoned]);
    } finally {
      stopListening();
      stopTimer();
    }
  }

  /**
   * The events of a link's stream. If the link's own code fails, the events of the inner stream follow, from the first batch that the
   * link has not returned.
   */
  #stream(where: string, outer: ModelStream, { last: inner, again }: InnerResult<ModelStream>): ModelStream {
    const recorded = inner instanceof RecordedStream ? inner : undefined;
    const guard = this;
    return (async function* (): AsyncGenerator<readonly ModelEvent[]> {
      let given = 0;
      try {
        for await (const batch of outer) {
          given++;
          yield batch;
        }
      } catch (error) {
        if (recorded?.failed?.error === error) throw error;
        guard.switchOff(where, error);
        if (recorded !== undefined) yield* recorded.from(given);
        else if (given === 0) yield* await again();
        // The text cannot be completed, so the request runs again without the plugin.
        else yield [{ type: "failure", failure: failure("StreamInterrupted", {}) }];
      } finally {
        await recorded?.close();
      }
    })();
  }
}

interface LinkChecks<Input, Output> {
  /** Tells whether `next` can work with it. */
  readonly accepts: (input: Input) => boolean;
  readonly isResult: (output: Output) => boolean;
  readonly prepare?: (output: Output) => Output;
  readonly guardResult?: (output: Output, inner: InnerResult<Output>) => Output;
}

interface InnerResult<Output> {
  /** The newest result of `next`, if there is one. */
  readonly last: Output | undefined;
  /** The result without the link. */
  again(): Promise<Output>;
}

function isRequest(request: ModelRequest): boolean {
  return (
    typeof request?.model === "string" &&
    typeof request.system === "string" &&
    Array.isArray(request.messages) &&
    Array.isArray(request.tools)
  );
}

/** Tells whether a hook has left a request that can be sent. */
export const isSendable = isRequest;

function isStream(stream: ModelStream): boolean {
  return typeof stream?.[Symbol.asyncIterator] === "function";
}

function isCall(call: ToolCall): boolean {
  return typeof call?.call === "string" && typeof call.tool === "string" && isJsonObject(call.args);
}

const STATUSES: readonly string[] = ["ok", "error", "denied", "cancelled", "timeout", "skipped"];

export function isOutcome(outcome: ToolOutcome): boolean {
  return STATUSES.includes(outcome?.status) && Array.isArray(outcome.content) && outcome.content.every(isBlock);
}

function isBlock(block: ToolOutcome["content"][number]): boolean {
  return block?.type === "text" ? typeof block.text === "string" : block?.type === "image";
}

/** Describes what a link did with `next`. */
class InnerCalls<Input, Context, Output> {
  readonly call: Next<Input, Context, Output>;
  /** The newest call. */
  running: Promise<Output> | undefined;
  last: Output | undefined;
  failed: { readonly error: unknown } | undefined;

  constructor(
    next: Next<Input, Context, Output>,
    { accepts, prepare = (output) => output }: LinkChecks<Input, Output>,
  ) {
    this.call = async (input, context) => {
      if (!accepts(input)) throw new Error("it passed a value to next that is neither a request nor a call");
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

/** A stream that stores its batches, so that it can be read again. A reader that stops does not end it. */
class RecordedStream implements AsyncIterable<readonly ModelEvent[]> {
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
