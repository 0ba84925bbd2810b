/**
 * A client that answers from a cassette. It has no way to the network.
 *
 * 1. The first unused exchange with the same request answers a call, so that concurrent calls may come in any order. Each exchange
 *    answers one call.
 * 2. A call that matches no exchange fails with its differences from the next exchange. After that every call fails, because the
 *    recorded answers would belong to other requests.
 * 3. Lookups may be repeated or omitted. A lookup that is not on the cassette fails as it would without a network.
 */
import { onAbort } from "../../base/abort-tree.js";
import type { Clock } from "../../base/clock.js";
import { type Failure, failure } from "../../protocol/errors.js";
import type { HttpClient, HttpRequest, HttpResponse } from "../../system/http-client.js";
import { HttpError, type HttpErrorKind, HttpFailure } from "../../system/http-error.js";
import { canonicalRequest, isCall, type Surroundings, withPlaces } from "./canonical.js";
import { describeDifferences, differences } from "./difference.js";
import type { Cassette, Exchange, TapedChunk, TapedError, TapedRequest } from "./tape.js";

export interface ReplayOptions extends Surroundings {
  readonly cassette: Cassette;
  readonly file: string;
  readonly clock: Clock;
  /** 1 is the recorded speed, 2 twice as fast; default: no delay. */
  readonly speed?: number | undefined;
}

export interface ReplayReport {
  /** The first call that did not match; undefined if all matched. */
  readonly mismatch?: {
    readonly failure: Failure;
    /** All differences, in lines; empty if there was nothing to compare with. */
    readonly differences: string;
  };
  /** Calls of the cassette that the run did not make, one line each. */
  readonly left: readonly string[];
}

export interface ReplayClient extends HttpClient {
  report(): ReplayReport;
}

export function replayingClient(options: ReplayOptions): ReplayClient {
  return new Replay(options);
}

class Replay implements ReplayClient {
  readonly #options: ReplayOptions;
  readonly #lookups: readonly Exchange[];
  readonly #left: { readonly exchange: Exchange; readonly number: number }[];
  readonly #total: number;
  #mismatch: ReplayReport["mismatch"];

  constructor(options: ReplayOptions) {
    this.#options = options;
    const { exchanges } = options.cassette;
    this.#lookups = exchanges.filter(({ type }) => type === "lookup");
    this.#left = exchanges
      .filter(({ type }) => type === "call")
      .map((exchange, index) => ({ exchange, number: index + 1 }));
    this.#total = this.#left.length;
  }

  async request(request: HttpRequest): Promise<HttpResponse> {
    if (request.signal?.aborted) throw new HttpError("aborted", "cancelled");
    const exchange = isCall(request) ? this.#next(request) : this.#lookup(request);
    if (exchange.response === undefined) throw brokenOff(exchange.error);
    return new TapedAnswer(exchange, request.signal, this.#options);
  }

  close(): void {}

  report(): ReplayReport {
    const left = this.#left.map(({ exchange, number }) => `call ${number}: ${summary(exchange)}`);
    return { left, ...(this.#mismatch !== undefined && { mismatch: this.#mismatch }) };
  }

  #next(request: HttpRequest): Exchange {
    if (this.#mismatch !== undefined) throw new HttpFailure(this.#mismatch.failure);
    const sent = canonicalRequest(request, this.#options);
    const at = this.#left.findIndex(({ exchange }) => differences(exchange.request, sent).length === 0);
    const [found] = at === -1 ? [] : this.#left.splice(at, 1);
    if (found !== undefined) return found.exchange;
    this.#mismatch = this.#explain(sent);
    throw new HttpFailure(this.#mismatch.failure);
  }

  #explain(sent: TapedRequest): NonNullable<ReplayReport["mismatch"]> {
    const { file } = this.#options;
    const expected = this.#left[0];
    if (expected === undefined) {
      const detail = `it has ${counted(this.#total)}, and this run makes one more`;
      return { failure: failure("CassetteMismatch", { file, detail }), differences: "" };
    }
    const found = differences(expected.exchange.request, sent);
    const more = found.length > 1 ? ` and in ${found.length - 1} more` : "";
    const detail = `call ${expected.number} of ${this.#total} differs in ${found[0]?.at}${more}`;
    return { failure: failure("CassetteMismatch", { file, detail }), differences: describeDifferences(found) };
  }

  #lookup(request: HttpRequest): Exchange {
    const sent = canonicalRequest(request, this.#options);
    const found = this.#lookups.find((exchange) => differences(exchange.request, sent).length === 0);
    if (found === undefined) throw new HttpError("connect", "the cassette does not have this request", "ENETUNREACH");
    return found;
  }
}

function counted(calls: number): string {
  return `${calls} call${calls === 1 ? "" : "s"}`;
}

function summary({ request: { method, path }, response }: Exchange): string {
  return `${method} ${path} (${response === undefined ? "no answer" : response.status})`;
}

class TapedAnswer implements HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly #chunks: readonly TapedChunk[];
  readonly #error: TapedError | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #options: ReplayOptions;

  constructor({ response, error }: Exchange, signal: AbortSignal | undefined, options: ReplayOptions) {
    this.status = response?.status ?? 0;
    this.headers = response?.headers ?? {};
    this.#chunks = response?.chunks ?? [];
    this.#error = error;
    this.#signal = signal;
    this.#options = options;
  }

  get body(): AsyncIterable<Uint8Array> {
    return this.#play();
  }

  async text(limitBytes: number): Promise<string> {
    const all = Buffer.concat(this.#chunks.map(([, content]) => this.#bytes(content)));
    return all.subarray(0, limitBytes).toString("utf8");
  }

  release(): void {}

  destroy(): void {}

  async *#play(): AsyncGenerator<Uint8Array> {
    let before = 0;
    for (const [ms, content] of this.#chunks) {
      await this.#pause(ms - before);
      before = ms;
      yield this.#bytes(content);
    }
    if (this.#error !== undefined) throw brokenOff(this.#error);
  }

  #bytes(content: TapedChunk[1]): Uint8Array {
    if (typeof content !== "string") return Buffer.from(content.base64, "base64");
    return Buffer.from(withPlaces(content, this.#options.places));
  }

  #pause(ms: number): Promise<void> {
    const { speed, clock } = this.#options;
    return new Promise((resolve, reject) => {
      const signal = this.#signal;
      if (signal?.aborted) return reject(new HttpError("aborted", "cancelled"));
      if (speed === undefined || ms <= 0) return resolve();
      const stopListening =
        signal === undefined
          ? () => {}
          : onAbort(signal, () => {
              stopTimer();
              reject(new HttpError("aborted", "cancelled"));
            });
      const stopTimer = clock.after(ms / speed, () => {
        stopListening();
        resolve();
      });
    });
  }
}

/** A recorded run was cancelled here. The replay is not, so its answer just stops. */
function brokenOff(error: TapedError | undefined): HttpError {
  const kinds: readonly HttpErrorKind[] = ["connect", "dropped", "timeout"];
  const kind = kinds.find((known) => known === error?.kind) ?? "dropped";
  return new HttpError(kind, error?.message ?? "the recording ends here", error?.code);
}
