/**
 * A client that records every exchange.
 *
 * 1. The caller sees the same as without it, at the same time.
 * 2. An exchange is written once, when its answer has ended, failed, or was abandoned.
 */
import type { Clock } from "../../base/clock.js";
import type { HttpClient, HttpRequest, HttpResponse } from "../../system/http-client.js";
import { HttpError } from "../../system/http-error.js";
import {
  canonicalRequest,
  isCall,
  keysOf,
  placesAndKeys,
  type Surroundings,
  withoutKeys,
  withoutPlaces,
} from "./canonical.js";
import { cleanLines } from "./clean-answer.js";
import type { Exchange, TapedChunk, TapedError } from "./tape.js";

export interface RecordOptions extends Surroundings {
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly write: (exchange: Exchange) => void;
  /** `redact` for a text that comes in pieces. */
  readonly redactStream: () => { push(text: string): string; end(): string };
}

/** The headers that affect how Oxbow handles an answer. Other headers may name an account. */
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

/** One exchange in progress. */
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
    // Oxbow probes for servers on this machine. Most are absent, and the replay needs no record of that.
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
    const texts = asTexts(this.#pieces.map(({ bytes }) => bytes));
    const times = this.#pieces.map(({ ms }) => ms);
    if (texts === undefined) {
      return this.#pieces.map(({ ms, bytes }) => [ms, { base64: Buffer.from(bytes).toString("base64") }]);
    }
    const { places, redact, redactStream } = this.#options;
    const keys = keysOf(this.#request);
    const whole = texts.join("");
    const lines = whole.split("\n");
    const hide = (text: string) => withoutPlaces(withoutKeys(text, keys), places);
    const replace = (text: string) => placesAndKeys(text, { places, keys });
    const clean = cleanLines(lines, { replace, redactStream }).map((line) => redact(hide(line)));
    if (clean.every((line, index) => line === lines[index])) {
      return joined(texts.map((text, index) => [times[index] ?? 0, text]));
    }
    const all = clean.join("\n");
    const safe = redact(all);
    // Several lines together contain something that no single line shows.
    return safe === all ? joined(byLine(clean, lines, { texts, times })) : [[times.at(-1) ?? 0, safe]];
  }
}

/** A changed line gets the time of its last byte. */
function byLine(
  clean: readonly string[],
  lines: readonly string[],
  { texts, times }: { readonly texts: readonly string[]; readonly times: readonly number[] },
): readonly (readonly [number, string])[] {
  let piece = 0;
  let arrived = texts[0]?.length ?? 0;
  let offset = 0;
  return clean.map((line, index) => {
    const newline = index < lines.length - 1 ? "\n" : "";
    offset += (lines[index]?.length ?? 0) + newline.length;
    while (offset > arrived && piece < texts.length - 1) arrived += texts[++piece]?.length ?? 0;
    return [times[piece] ?? 0, line + newline] as const;
  });
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

/** A character that spans two pieces belongs to the second one; undefined if the bytes are not text. */
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

/** Joins pieces with the same time and drops empty ones. */
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
