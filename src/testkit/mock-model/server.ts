/**
 * The mock model: an HTTP server on one port that speaks five wires, follows a script and records its requests.
 *
 * 1. A request that the real service would refuse is refused in its words, and consumes no reply. A failed expectation consumes
 *    none either.
 * 2. The reply is chosen when the body of the request is complete; from then on answers run concurrently.
 * 3. It stores no key.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Clock, systemClock } from "../../base/clock.js";
import type { JsonObject } from "../../protocol/json.js";
import { explain, type Facts, holds } from "./condition.js";
import { Output } from "./output.js";
import { pause, perform, sendAnswer, sendPieces } from "./perform.js";
import { type NumberedReply, ReplyQueue } from "./reply-queue.js";
import { type Answered, type Ending, type MockFailure, type RecordedRequest, RequestLog } from "./request-log.js";
import { notFound, route } from "./routes.js";
import { parseScript } from "./script/parse.js";
import { type ModelSpec, type Reply, SCRIPT_ENDED, type Script } from "./script/script.js";
import { createIdMint } from "./wires/id-mint.js";
import { createModelList } from "./wires/model-list.js";
import { OllamaModels } from "./wires/ollama-models.js";
import { type Ask, type HttpAnswer, type Incoming, parseBody, type Service, type Wire } from "./wires/wire.js";

export interface MockModelOptions {
  /** The text of a script, or one made with `script()`. */
  readonly script: string | Script;
  /** Default: 0, any free port. */
  readonly port?: number;
  readonly host?: string;
  /** The key that clients must send; default: any key. */
  readonly key?: string;
  /** The models that exist, instead of the script's. */
  readonly models?: readonly (string | ModelSpec)[];
  readonly clock?: Clock;
  /** Makes the ids the same from run to run. */
  readonly seed?: number;
  /** Called for each request before its answer starts. */
  readonly onRequest?: (request: RecordedRequest) => void;
}

export interface MockModel {
  /** `http://127.0.0.1:PORT`; OpenAI clients need `/v1` after it. */
  readonly url: string;
  readonly port: number;
  /** The model calls so far, refused ones included. */
  readonly requests: readonly RecordedRequest[];
  /** All other requests: lists of models, versions, unknown paths. */
  readonly lookups: readonly RecordedRequest[];
  /** Refused requests and failed expectations. */
  readonly failures: readonly MockFailure[];
  /** Replies that are still waiting for their call. */
  readonly unusedReplies: number;
  /** The n-th model call (from 1), as soon as it arrives. */
  waitForRequest(n: number): Promise<RecordedRequest>;
  close(): Promise<void>;
}

/** The limit of the hosted services. */
const LARGEST_BODY = 32 * 1024 * 1024;

export async function startMockModel(options: MockModelOptions): Promise<MockModel> {
  const { port = 0, host = "127.0.0.1" } = options;
  const mock = new MockServer(options);
  const server = createServer((request, response) => {
    mock.handle(request, response).catch((error: unknown) => giveUp(response, error));
  });
  // A connection closed for idleness just as the client uses it again would look like a fault of the client.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  const closed = () =>
    new Promise<void>((resolve) => {
      mock.log.close();
      server.close(() => resolve());
      server.closeAllConnections();
    });
  let closing: Promise<void> | undefined;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${address.port}`,
    port: address.port,
    requests: mock.log.requests,
    lookups: mock.log.lookups,
    failures: mock.log.failures,
    get unusedReplies() {
      return mock.queue.unused;
    },
    waitForRequest: (n) => mock.log.waitFor(n),
    close: () => {
      closing ??= closed();
      return closing;
    },
  };
}

class MockServer {
  readonly queue: ReplyQueue;
  readonly log: RequestLog;
  readonly #service: Service;
  readonly #clock: Clock;

  constructor(options: MockModelOptions) {
    const { clock = systemClock, seed = Math.floor(Math.random() * 2 ** 32) } = options;
    const script = typeof options.script === "string" ? parseScript(options.script) : options.script;
    const models = options.models ?? script.models ?? [];
    this.queue = new ReplyQueue(script);
    this.log = new RequestLog(clock, options.onRequest);
    this.#clock = clock;
    const list = createModelList(models.map((model) => (typeof model === "string" ? { name: model } : model)));
    this.#service = {
      key: options.key,
      models: list,
      installed: new OllamaModels(list.all),
      ids: createIdMint(seed),
      wall: () => clock.wall(),
      now: () => clock.now(),
    };
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    const ended = new Promise<Ending>((resolve) => {
      response.once("close", () => {
        resolve(response.writableFinished ? "complete" : "broken");
        gone.abort();
      });
    });
    const body = await readBody(request);
    const incoming = describeRequest(request, body ?? "");
    const target = route(incoming);
    const plain = new Output(response, gone.signal, {});
    if (target === undefined) {
      this.log.lookup(incoming, { wire: undefined, ended, answered: { by: "service", status: 404 } });
      return sendAnswer(plain, notFound(incoming));
    }
    const { wire } = target;
    const direct =
      body === undefined
        ? wire.error({ type: "error", kind: "too-large" }, { service: this.#service })
        : wire.respond(incoming, this.#service);
    if (target.kind === "lookup" || (direct !== undefined && direct.status < 400)) {
      const answer = direct ?? notFound(incoming);
      this.log.lookup(incoming, { wire: wire.name, ended, answered: { by: "service", status: answer.status } });
      if (answer.pieces !== undefined) return sendPieces(plain, answer, { clock: this.#clock, pieces: answer.pieces });
      return sendAnswer(plain, answer);
    }
    const call = { wire, incoming, ended };
    if (direct !== undefined) return sendAnswer(plain, this.#refuse(call, direct));
    const ask = wire.read(parseBody(incoming.bodyText) as JsonObject, incoming);
    const chosen = this.#choose(call, ask);
    if ("status" in chosen) return sendAnswer(plain, chosen);
    const output = new Output(response, gone.signal, chosen);
    await this.#warmUp(wire, ask, output);
    return perform(chosen, { wire, ask, service: this.#service, clock: this.#clock, output });
  }

  async #warmUp(wire: Wire, ask: Ask, output: Output): Promise<void> {
    const warmUp = wire.warmUp?.(ask, this.#service);
    if (warmUp === undefined) return;
    if (warmUp.ms > 0) await pause(warmUp.ms, this.#clock, output.gone);
    if (!output.gone.aborted) warmUp.done();
  }

  #refuse({ wire, incoming, ended }: Call, answer: HttpAnswer): HttpAnswer {
    const message = typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body);
    const answered: Answered = { by: "refusal", status: answer.status, message };
    const { number } = this.log.call(incoming, { wire: wire.name, ended, answered });
    this.log.fail({ request: number, kind: "refused", message });
    return answer;
  }

  /** The reply to play, or an error if the request does not match the script. */
  #choose({ wire, incoming, ended }: Call, ask: Ask): Reply | HttpAnswer {
    const facts: Facts = { wire: wire.name, request: incoming, ask };
    const next = this.queue.next(facts);
    if (next === undefined) {
      this.log.call(incoming, { wire: wire.name, ended, answered: { by: "end-of-script" }, ask });
      return { actions: [{ type: "text", text: SCRIPT_ENDED }] };
    }
    const broken = (next.reply.expect ?? []).filter((condition) => !holds(condition, facts));
    if (broken.length === 0) {
      this.queue.use(next);
      this.log.call(incoming, { wire: wire.name, ended, answered: answeredBy(next), ask });
      return next.reply;
    }
    const message = `mock model: ${broken.map((condition) => explain(condition, facts)).join("; ")}`;
    const { number } = this.log.call(incoming, {
      wire: wire.name,
      ended,
      answered: { by: "expectation", message },
      ask,
    });
    this.log.fail({ request: number, kind: "expectation", message, reply: next.number });
    const answer = wire.error({ type: "error", status: 500, message }, { service: this.#service });
    // The same request would fail again: clients that know this header do not retry.
    return { ...answer, headers: { ...answer.headers, "x-should-retry": "false" } };
  }
}

interface Call {
  readonly wire: Wire;
  readonly incoming: Incoming;
  readonly ended: Promise<Ending>;
}

/** Reports an error in a script made in code, or in the server, to the client, because there is no log. */
function giveUp(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  response.writeHead(500, { "content-type": "text/plain; charset=utf-8" });
  response.end(`mock model: ${error instanceof Error ? error.message : String(error)}\n`);
}

function answeredBy({ number, reply }: NumberedReply): Answered {
  return { by: "reply", reply: number, ...(reply.line !== undefined && { line: reply.line }) };
}

function describeRequest(request: IncomingMessage, bodyText: string): Incoming {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return { method: request.method ?? "GET", path: request.url ?? "/", headers, bodyText };
}

/** Undefined if it is larger than the services accept. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size <= LARGEST_BODY) pieces.push(piece);
  }
  return size > LARGEST_BODY ? undefined : Buffer.concat(pieces).toString("utf8");
}
