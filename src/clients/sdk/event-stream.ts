/**
 * Follows one session over server-sent events, and connects again after a drop from the last event that arrived.
 *
 * It ends when the session ends, when the server refuses the stream, or when `retry` gives up. The log of a resumed session has older ends
 * in it, so only the end after which the server closes the stream counts.
 */
import type { Clock } from "../../base/clock.js";
import { SseDecoder } from "../../base/sse.js";
import type { Envelope } from "../../protocol/envelope.js";
import { type Failure, failure } from "../../protocol/errors.js";
import type { SessionId } from "../../protocol/ids.js";
import { Backoff } from "./backoff.js";
import type { Deliveries, Position } from "./deliveries.js";
import type { ExchangeAnswer } from "./exchange.js";
import { SilenceWatch } from "./silence-watch.js";

export interface StreamOptions {
  readonly session: SessionId;
  /** The address of the engine, for messages. */
  readonly place: string;
  readonly deliveries: Deliveries;
  readonly clock: Clock;
  readonly random: () => number;
  /** A server that sends nothing for this long counts as gone: it sends a comment more often. */
  readonly silenceMs: number;
  readonly open: (request: {
    readonly path: string;
    readonly after: Position;
    readonly signal: AbortSignal;
  }) => Promise<ExchangeAnswer>;
  readonly retry: (attempt: number, error: Error) => boolean | Promise<boolean>;
  readonly onState: (state: "connected" | "lost", error?: Error) => void;
  /** Tells whether the session is open. Following one that is not would open it. */
  readonly isLive: () => Promise<boolean>;
  /** The stream ended: with a reason, if the session did not. */
  readonly onEnd: (reason?: Failure) => void;
}

export class EventStream {
  readonly #options: StreamOptions;
  readonly #stopped = new AbortController();
  readonly #backoff: Backoff;
  #wake: (() => void) | undefined;
  #isOpened = false;
  /** The last event was an end of the session. */
  #sawEnd = false;
  #opened: (problem: Failure | undefined) => void = () => {};
  /** Resolves with the refusal of the first attempt, if there was one. */
  readonly opened: Promise<Failure | undefined>;

  constructor(options: StreamOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.random);
    this.opened = new Promise((resolve) => {
      this.#opened = resolve;
    });
    void this.#follow();
  }

  get isStopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  stop(): void {
    this.#stopped.abort();
    this.#wake?.();
    this.#opened(undefined);
  }

  /** Does not wait any longer for the next attempt. */
  hurry(): void {
    this.#wake?.();
  }

  async #follow(): Promise<void> {
    const { onState, retry, place } = this.#options;
    while (!this.isStopped) {
      const least = await this.#once().catch((error: unknown) => error as Error);
      if (this.isStopped) return;
      const error = least instanceof Error ? least : new Error("the connection was closed");
      if (error instanceof StreamRefused) return this.#giveUp(error.failure);
      if (this.#sawEnd && !(await this.#options.isLive())) return this.#giveUp();
      onState("lost", error);
      if (!(await retry(this.#backoff.failures + 1, error))) return this.#giveUp(unreachable(place, error.message));
      await this.#pause(this.#backoff.next(typeof least === "number" ? least : 0));
    }
  }

  #giveUp(reason?: Failure): void {
    if (this.isStopped) return;
    const isFirst = !this.#isOpened;
    this.#opened(reason);
    this.stop();
    if (!isFirst) this.#options.onEnd(reason);
  }

  /** One connection to its end. Returns the wait that the server asks for. */
  async #once(): Promise<number> {
    const { session, deliveries, open, onState } = this.#options;
    const connection = new AbortController();
    const end = () => connection.abort();
    this.#stopped.signal.addEventListener("abort", end);
    const watch = new SilenceWatch(this.#options, { onSilence: end });
    try {
      const after = deliveries.position(session) ?? { after: 0 };
      const path = `/v1/sessions/${encodeURIComponent(session)}/events`;
      const answer = await open({ path, after, signal: connection.signal });
      if (answer.status !== 200) throw await refusalOf(answer);
      this.#backoff.succeeded();
      this.#isOpened = true;
      this.#opened(undefined);
      onState("connected");
      const decoder = new SseDecoder();
      for await (const piece of answer.pieces()) {
        watch.sawTraffic();
        for (const { data } of decoder.push(piece)) this.#take(data);
        if (this.isStopped) break;
      }
      return decoder.retryMs ?? 0;
    } finally {
      watch.stop();
      this.#stopped.signal.removeEventListener("abort", end);
      connection.abort();
    }
  }

  #take(data: string): void {
    const { session, deliveries } = this.#options;
    const event = JSON.parse(data) as Envelope;
    if (event.session !== session || this.isStopped) return;
    this.#sawEnd = event.kind === "SessionEnded";
    deliveries.deliver(event);
  }

  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.after(ms, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
    this.#wake = undefined;
  }
}

class StreamRefused extends Error {
  readonly failure: Failure;

  constructor(reason: Failure) {
    super(reason.message);
    this.failure = reason;
  }
}

/** A server that is busy or has just stopped may answer later. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

async function refusalOf(answer: ExchangeAnswer): Promise<Error> {
  const text = await answer.text();
  const reason =
    failureIn(text) ?? failure("InvalidInput", { detail: `The server answers with status ${answer.status}.` });
  return PASSING.has(answer.status) ? new Error(reason.message) : new StreamRefused(reason);
}

/** There is no answer from the engine. */
export function unreachable(place: string, detail: string): Failure {
  const hint = "'oxbow status' shows whether it runs";
  return failure("NetworkFailed", { name: "the engine", url: place, detail, hint });
}

/** The failure in the body of an answer, if it has one. */
export function failureIn(text: string): Failure | undefined {
  try {
    const body = JSON.parse(text) as { readonly failure?: Failure; readonly error?: Failure } | null;
    const found = body?.failure ?? body?.error;
    return typeof found?.reason === "string" && typeof found.message === "string" ? found : undefined;
  } catch {
    return undefined;
  }
}
