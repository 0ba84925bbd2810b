/**
 * A client that writes down every exchange it carries (feature M18).
 *
 * 1. The caller sees exactly what it would see without it, as early as without it.
 * 2. An exchange is written once, when its answer has ended, was let go, or broke.
 */
import type { Clock } from "../../base/clock.js";
import type { HttpClient, HttpRequest, HttpResponse } from "../../system/http-client.js";
import { HttpError } from "../../system/http-error.js";
import { canonicalRequest, isCall, keysOf, type Surroundings, withoutKeys, withoutPlaces } from "./canonical.js";
import type { Exchange, TapedChunk, TapedError } from "./tape.js";

export interface RecordOptions extends Surroundings {
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly write: (exchange: Exchange) => void;
  /** `redact` for a text that comes in pieces. */
  readonly redactStream: () => { push(text: string): string; end(): string };
}

/** What answers are judged by, and no more: others may name an account. */
const KEPT_HEADERS = /^(content-type|retry-after(-ms)?|x-should-retry|(x|anthropic)-ratelimit-.+)$/;

interface Piece {
  readonly ms: number;
  readonly bytes: Uint8Array;
}

export function recordingClient(options: RecordOptions): HttpClient {
  const { http, clock } = options;
  return {
    async request(request) {
      const since = clock.now();
      const taken = new Taking(request, options);
      try {
        const response = await http.request(request);
        return taken.watch(response, () => Math.round(clock.now() - since));
      } catch (error) {
        if (error instanceof HttpError) taken.close({ error });
        throw error;
      }
    },
    close: () => http.close(),
  };
}

/** One exchange while it goes on. */
class Taking {
  readonly #request: HttpRequest;
  readonly #options: RecordOptions;
  readonly #pieces: Piece[] = [];
  #response: HttpResponse | undefined;
  #closed = false;

  constructor(request: HttpRequest, options: RecordOptions) {
    this.#request = request;
    this.#options = options;
  }

  watch(response: HttpResponse, elapsed: () => number): HttpResponse {
    this.#response = response;
    const keep = (bytes: Uint8Array) => void this.#pieces.push({ ms: elapsed(), bytes: Uint8Array.from(bytes) });
    const close = (end: { readonly error?: HttpError } = {}) => this.close(end);
    return {
      status: response.status,
      headers: response.headers,
      body: watched(response.body, keep, close),
      async text(limitBytes) {
        const text = await response.text(limitBytes);
        keep(Buffer.from(text));
        close();
        return text;
      },
      release() {
        response.release();
        close();
      },
      destroy() {
        response.destroy();
        close();
      },
    };
  }

  close({ error }: { readonly error?: HttpError }): void {
    if (this.#closed) return;
    this.#closed = true;
    // Servers that may be on this machine are asked whether they are: most are not, and the replay needs no record of that.
    if (this.#response === undefined && !isCall(this.#request)) return;
    const { redact, write, places } = this.#options;
    const clean = (text: string) => redact(withoutKeys(text, keysOf(this.#request)));
    const response = this.#response;
    const headers = Object.entries(response?.headers ?? {}).filter(([name]) => KEPT_HEADERS.test(name));
    write({
      type: isCall(this.#request) ? "call" : "lookup",
      request: canonicalRequest(this.#request, this.#options),
      ...(response !== undefined && {
        response: {
          status: response.status,
          headers: Object.fromEntries(headers.map(([name, value]) => [name, clean(value)])),
          chunks: this.#chunks(),
        },
      }),
      ...(error !== undefined && { error: tapedError(error, (text) => withoutPlaces(clean(text), places)) }),
    });
  }

  #chunks(): readonly TapedChunk[] {
    const { places, redactStream } = this.#options;
    const texts = asTexts(this.#pieces.map(({ bytes }) => bytes));
    if (texts === undefined) {
      return this.#pieces.map(({ ms, bytes }) => [ms, { base64: Buffer.from(bytes).toString("base64") }]);
    }
    const keys = keysOf(this.#request);
    const whole = withoutKeys(texts.join(""), keys);
    // A key that is cut in two by the network is only found in the whole.
    const pieces = whole.length === texts.join("").length ? texts : [whole];
    const redaction = redactStream();
    const clean = pieces.map((text) => redaction.push(text));
    clean.push(redaction.end());
    const times = this.#pieces.map(({ ms }) => ms);
    const last = times.at(-1) ?? 0;
    const chunks = joined(
      clean.map((text, index) => [pieces.length === 1 ? last : (times[index] ?? last), text] as const),
    );
    return chunks.map(([ms, text]) => [ms, withoutPlaces(text, places)]);
  }
}

async function* watched(
  body: AsyncIterable<Uint8Array>,
  keep: (bytes: Uint8Array) => void,
  close: (end: { readonly error?: HttpError }) => void,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const bytes of body) {
      keep(bytes);
      yield bytes;
    }
    close({});
  } catch (error) {
    if (error instanceof HttpError) close({ error });
    throw error;
  }
}

/** A character that was cut in two belongs to the piece that completes it; undefined when the bytes are no text. */
function asTexts(pieces: readonly Uint8Array[]): readonly string[] | undefined {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    const texts = pieces.map((bytes) => decoder.decode(bytes, { stream: true }));
    decoder.decode();
    return texts;
  } catch {
    return undefined;
  }
}

/** Pieces of one moment as one, and none that are empty. */
function joined(chunks: readonly (readonly [number, string])[]): readonly (readonly [number, string])[] {
  const out: [number, string][] = [];
  for (const [ms, text] of chunks) {
    const last = out.at(-1);
    if (last !== undefined && last[0] === ms) last[1] += text;
    else if (text !== "") out.push([ms, text]);
  }
  return out;
}

function tapedError({ kind, message, code }: HttpError, clean: (text: string) => string): TapedError {
  return { kind, message: clean(message), ...(code !== undefined && { code }) };
}
