/** Records the requests to the server for tests. It removes keys first. */
import type { Clock } from "../../base/clock.js";
import { isJsonObject, type JsonValue } from "../../protocol/json.js";
import { type Ask, asList, asText, type Incoming, parseBody, type WireName } from "./wires/wire.js";

export interface RecordedRequest {
  /** From 1; model calls and lookups are counted separately. */
  readonly number: number;
  readonly wire: WireName | undefined;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed, or the text if it is not JSON. */
  readonly body: JsonValue;
  readonly model: string;
  /** The number of messages in the request. */
  readonly messages: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly answered: Answered;
  /** Says how it ended: "broken" when client or script closed the connection before the end of the answer. */
  readonly ended: Promise<Ending>;
}

export type Ending = "complete" | "broken";

export type Answered =
  | { readonly by: "reply"; readonly reply: number; readonly line?: number }
  | { readonly by: "end-of-script" }
  | { readonly by: "refusal"; readonly status: number; readonly message: string }
  | { readonly by: "expectation"; readonly message: string }
  | { readonly by: "service"; readonly status: number };

export interface MockFailure {
  /** Number of the model call. */
  readonly request: number;
  readonly kind: "refused" | "expectation";
  readonly message: string;
  /** Number of the reply whose expectation did not hold. */
  readonly reply?: number;
}

interface Entry {
  readonly wire: WireName | undefined;
  readonly ended: Promise<Ending>;
  readonly answered: Answered;
  readonly ask?: Ask;
}

interface Waiter {
  readonly n: number;
  resolve(request: RecordedRequest): void;
  reject(error: Error): void;
}

export class RequestLog {
  readonly requests: RecordedRequest[] = [];
  readonly lookups: RecordedRequest[] = [];
  readonly failures: MockFailure[] = [];
  readonly #clock: Clock;
  readonly #notify: (request: RecordedRequest) => void;
  #waiters: Waiter[] = [];
  #closed = false;

  constructor(clock: Clock, notify: (request: RecordedRequest) => void = () => {}) {
    this.#clock = clock;
    this.#notify = notify;
  }

  call(incoming: Incoming, entry: Entry): RecordedRequest {
    const request = this.#add(this.requests, incoming, entry);
    const ready = this.#waiters.filter((waiter) => waiter.n <= this.requests.length);
    this.#waiters = this.#waiters.filter((waiter) => waiter.n > this.requests.length);
    for (const waiter of ready) waiter.resolve(request);
    return request;
  }

  lookup(incoming: Incoming, entry: Entry): void {
    this.#add(this.lookups, incoming, entry);
  }

  fail(failure: MockFailure): void {
    this.failures.push(failure);
  }

  waitFor(n: number): Promise<RecordedRequest> {
    const there = this.requests[n - 1];
    if (there !== undefined) return Promise.resolve(there);
    if (this.#closed) return Promise.reject(tooFew(n, this.requests.length));
    return new Promise((resolve, reject) => this.#waiters.push({ n, resolve, reject }));
  }

  close(): void {
    this.#closed = true;
    for (const waiter of this.#waiters) waiter.reject(tooFew(waiter.n, this.requests.length));
    this.#waiters = [];
  }

  #add(list: RecordedRequest[], incoming: Incoming, { wire, ended, answered, ask }: Entry): RecordedRequest {
    const { method, path, bodyText } = incoming;
    const body = ask?.body ?? parseBody(bodyText) ?? bodyText;
    const fields = isJsonObject(body) ? body : {};
    const request: RecordedRequest = {
      number: list.length + 1,
      wire,
      method,
      path: path.replace(/([?&]key=)[^&]*/, "$1[redacted]"),
      headers: withoutKeys(incoming.headers),
      body,
      model: ask?.model ?? asText(fields.model),
      messages: ask?.messages ?? asList(fields.messages).length,
      at: this.#clock.wall(),
      answered,
      ended,
    };
    list.push(request);
    this.#notify(request);
    return request;
  }
}

function tooFew(n: number, came: number): Error {
  return new Error(`The mock model was closed before request ${n} came; it got ${came} requests.`);
}

const SECRET_HEADERS = ["authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie"];

/** Keeps the scheme before a key, so that a test can see how the key was sent. */
function withoutKeys(headers: Readonly<Record<string, string>>): Record<string, string> {
  const kept = { ...headers };
  for (const name of SECRET_HEADERS) {
    const value = kept[name];
    if (value !== undefined) kept[name] = `${/^(Bearer|Basic) /i.exec(value)?.[0] ?? ""}[redacted]`;
  }
  return kept;
}
