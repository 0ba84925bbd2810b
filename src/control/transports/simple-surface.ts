/** The requests of the simple surface: finds the route, checks the caller, reads the body and answers. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Clock, systemClock } from "../../base/clock.js";
import { isJsonObject } from "../../protocol/json.js";
import { type RefusedToken, refusedTokenLog } from "../auth/refused-tokens.js";
import { EventStream } from "./event-stream.js";
import { isPath, type LocalAccess, repeatedHeader } from "./local-access.js";
import type { HarnessEvent } from "./simple-events.js";
import type { ServedHarness, ServerOptions } from "./simple-http.js";

const MAX_BODY_BYTES = 1024 * 1024;
const RUNNING: Refused = {
  status: 409,
  message: "A prompt is already running. Wait for the idle status, or POST /cancel first.",
};

type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

interface Route {
  readonly method: "GET" | "POST";
  readonly answer: Answer;
}

interface Refused {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export class SimpleSurface {
  readonly #harness: ServedHarness;
  readonly #access: LocalAccess;
  readonly #options: ServerOptions;
  readonly #clock: Clock;
  readonly #streams = new Set<EventStream>();
  readonly #unsubscribe: () => void;
  readonly #logRefused: (refused: RefusedToken) => void;
  readonly #routes: ReadonlyMap<string, Route> = new Map<string, Route>([
    ["/events", { method: "GET", answer: (_request, response) => this.#stream(response) }],
    ["/prompt", { method: "POST", answer: (request, response) => this.#prompt(request, response) }],
    ["/cancel", { method: "POST", answer: (_request, response) => this.#cancel(response) }],
  ]);

  constructor(harness: ServedHarness, access: LocalAccess, options: ServerOptions) {
    this.#harness = harness;
    this.#access = access;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#logRefused = refusedTokenLog(this.#clock, (message, fields) => options.log?.(message, fields));
    this.#unsubscribe = harness.subscribe((event) => this.#onEvent(event));
  }

  close(): void {
    this.#unsubscribe();
    for (const stream of this.#streams) stream.end();
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    response.setHeader("x-content-type-options", "nosniff");
    const { origin } = request.headers;
    if (this.#access.isAllowedForeign(origin)) {
      response.setHeader("access-control-allow-origin", origin);
      response.setHeader("vary", "origin");
    }
    const found = this.#find(request);
    if ("status" in found) refuse(response, found);
    // Reading a body can fail when the client has disconnected; then there is no one to answer.
    else Promise.resolve(found.answer(request, response)).catch(() => response.destroy());
  }

  #find(request: IncomingMessage): { readonly answer: Answer } | Refused {
    const { method = "", url = "", headers, rawHeaders } = request;
    const twice = repeatedHeader(rawHeaders);
    if (twice !== undefined) return { status: 400, message: twice };
    const badAddress = this.#access.refuseAddress(headers);
    if (badAddress !== undefined) return badAddress;
    if (method === "OPTIONS" && this.#access.isAllowedForeign(headers.origin)) return { answer: answerPreflight };
    if (!isPath(url)) return { status: 400, message: "The address of the request must be a path." };
    const { pathname, searchParams } = new URL(url, "http://localhost");
    // EventSource cannot set a header. No other request needs the token in its address.
    const inQuery = method === "GET" && pathname === "/events" ? searchParams.get("token") : null;
    const badToken = this.#access.refuseToken(headers, inQuery ?? undefined);
    if (badToken !== undefined) {
      const from = request.socket.remoteAddress;
      this.#logRefused({ from, method, target: url, reason: badToken.message.split(":", 1)[0] ?? "" });
      return { ...badToken, headers: { "www-authenticate": "Bearer" } };
    }
    const route = this.#routes.get(pathname);
    if (route === undefined) {
      return { status: 404, message: `There is no ${pathname}. There are GET /events, POST /prompt and POST /cancel.` };
    }
    if (route.method === method) return route;
    const message = `${pathname} takes ${route.method}, not ${method}.`;
    return { status: 405, message, headers: { allow: route.method } };
  }

  #stream(response: ServerResponse): void {
    const stream: EventStream = new EventStream(response, {
      clock: this.#clock,
      onClose: () => this.#streams.delete(stream),
    });
    this.#streams.add(stream);
  }

  #onEvent(event: HarnessEvent): void {
    if (this.#streams.size === 0) return;
    const stamped = event.type === "status" ? event : { ...event, timestamp: Math.floor(this.#clock.wall() / 1000) };
    const data = JSON.stringify(stamped);
    for (const stream of this.#streams) stream.send(data);
  }

  async #prompt(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const limit = this.#options.maxBodyBytes ?? MAX_BODY_BYTES;
    const body = await readBody(request, limit);
    const read = body === undefined ? tooLarge(limit) : readPrompt(body);
    if ("status" in read) refuse(response, read);
    else if (this.#harness.busy) refuse(response, RUNNING);
    else {
      this.#harness.prompt(read.content).catch((error: unknown) => this.#options.onError?.(error));
      const message = await this.#harness.accepted?.();
      if (message === undefined) answer(response, 202, { accepted: true });
      else refuse(response, { status: 409, message });
    }
  }

  #cancel(response: ServerResponse): void {
    const { busy } = this.#harness;
    this.#harness.cancel();
    answer(response, 202, { cancelling: busy });
  }
}

/** Undefined if it is too large. The rest is still read, or the sender would not see the response. */
async function readBody(request: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size <= limit) pieces.push(piece);
    else pieces.length = 0;
  }
  return size > limit ? undefined : Buffer.concat(pieces);
}

function tooLarge(limit: number): Refused {
  return { status: 413, message: `The body is larger than ${limit} bytes.` };
}

function readPrompt(body: Buffer): { readonly content: string } | Refused {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch (error) {
    return badBody(error instanceof Error ? error.message : String(error));
  }
  if (!isJsonObject(value) || typeof value.content !== "string") return badBody('"content" is not a string');
  return value.content.trim() === "" ? badBody('"content" is empty') : { content: value.content };
}

function badBody(problem: string): Refused {
  return { status: 400, message: `The body must be JSON such as {"content": "your prompt"}: ${problem}.` };
}

/** A browser asks whether an allowed page may send more than a plain request. */
function answerPreflight(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(204, {
    "access-control-allow-methods": "GET, POST",
    "access-control-allow-headers": "authorization, content-type, x-oxbow-token",
    "access-control-max-age": "600",
  });
  response.end();
}

function refuse(response: ServerResponse, { status, message, headers = {} }: Refused): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  answer(response, status, { error: message });
}

function answer(response: ServerResponse, status: number, body: object): void {
  const text = `${JSON.stringify(body)}\n`;
  response.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(text),
    "cache-control": "no-store",
  });
  response.end(text);
}
