/** Reaches a server over HTTP and server-sent events, on TCP, TLS or a Unix socket, with nothing but Node's own client. */
import { type ClientRequest, type IncomingMessage, request as plainRequest, type RequestOptions } from "node:http";
import { request as secureRequest } from "node:https";
import { isJsonObject, type JsonObject } from "../../../../protocol/json.js";
import type { ConformanceConnection, ConformanceReply, ConformanceTransport, FollowRequest } from "../transport.js";
import { abilitiesOf, tokenFor, type WireAddress, type WireOptions } from "./wire-options.js";

export function httpTransport(address: WireAddress, options: WireOptions): ConformanceTransport {
  return {
    name: address.socketPath === undefined ? "http" : "unix",
    abilities: abilitiesOf(options),
    connect: async (identity, other) => new HttpConnection(address, tokenFor(options, { identity, other })),
    close: async () => {},
  };
}

/** A client that did not shake hands names an id that no server has. */
const NO_CLIENT = "cli_00000000000000000000000000";

class HttpConnection implements ConformanceConnection {
  readonly #address: WireAddress;
  readonly #token: string | undefined;
  readonly #streams = new Map<string, ClientRequest>();
  #client = NO_CLIENT;

  constructor(address: WireAddress, token: string | undefined) {
    this.#address = address;
    this.#token = token;
  }

  readonly handshake = async (hello: JsonObject): Promise<ConformanceReply> => {
    const { protocol_version: version, client, ...more } = hello;
    const { name, identity } = isJsonObject(client) ? client : {};
    const query = new URLSearchParams(Object.fromEntries(Object.keys(more).map((key) => [key, "x"])));
    if (typeof version === "string") query.set("protocol_version", version);
    if (typeof name === "string") query.set("name", name);
    if (typeof identity === "string") query.set("identity", identity);
    const { status, body } = await this.#exchange({ method: "GET", path: `/v1/handshake?${query}`, unnamed: true });
    if (status !== 200) return refusal(body);
    if (typeof body.client === "string") this.#client = body.client;
    return { ok: true, handshake: body };
  };

  readonly command = async (body: JsonObject): Promise<ConformanceReply> => this.#post("/v1/commands", body);

  readonly query = async (body: JsonObject): Promise<ConformanceReply> => this.#post("/v1/queries", body);

  readonly follow = ({ session, after, at, onEvent }: FollowRequest): Promise<ConformanceReply> =>
    new Promise((resolve, reject) => {
      const time = at === undefined ? "" : `?after_ts=${encodeURIComponent(at)}`;
      const path = `/v1/sessions/${encodeURIComponent(session)}/events${time}`;
      const headers = { accept: "text/event-stream", ...(after !== undefined && { "last-event-id": String(after) }) };
      const sent = this.#request({ method: "GET", path, headers }, (response) => {
        if (response.statusCode !== 200) {
          readBody(response).then(({ body }) => resolve(refusal(body)), reject);
          return;
        }
        readEvents(response, onEvent);
        resolve({ ok: true });
      });
      sent.on("error", reject);
      sent.end();
      this.#streams.get(session)?.destroy();
      this.#streams.set(session, sent);
    });

  readonly unfollow = async (session: string): Promise<void> => {
    await gone(this.#streams.get(session));
    this.#streams.delete(session);
  };

  readonly drop = async (): Promise<void> => {
    for (const session of [...this.#streams.keys()]) await this.unfollow(session);
  };

  async #post(path: string, body: JsonObject): Promise<ConformanceReply> {
    const answer = await this.#exchange({ method: "POST", path, body });
    return typeof answer.body.ok === "boolean" ? answer.body : refusal(answer.body);
  }

  #exchange(asked: {
    readonly method: string;
    readonly path: string;
    readonly body?: JsonObject;
    readonly unnamed?: true;
  }): Promise<{ readonly status: number | undefined; readonly body: JsonObject }> {
    const { method, path, body, unnamed } = asked;
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    return new Promise((resolve, reject) => {
      const sent = this.#request({ method, path, headers, ...(unnamed && { unnamed }) }, (response) =>
        readBody(response).then(resolve, reject),
      );
      sent.on("error", reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  #request(
    { unnamed, headers, ...asked }: RequestOptions & { readonly unnamed?: true },
    onResponse: (response: IncomingMessage) => void,
  ): ClientRequest {
    const { socketPath, host, port, secure, ca } = this.#address;
    const place = socketPath === undefined ? { host, port } : { socketPath };
    return (secure ? secureRequest : plainRequest)(
      {
        ...{ ...place, ...asked, agent: false },
        ...(ca !== undefined && { ca }),
        headers: {
          ...headers,
          ...(socketPath !== undefined && { host: "localhost" }),
          ...(this.#token !== undefined && { "x-oxbow-token": this.#token }),
          ...(!unnamed && { "x-oxbow-client": this.#client }),
        },
      },
      onResponse,
    );
  }
}

/** The server sees the end of a stream only some time after the client ended it. */
async function gone(stream: ClientRequest | undefined): Promise<void> {
  if (stream === undefined || stream.closed) return;
  const closed = new Promise((resolve) => stream.once("close", resolve));
  stream.on("error", () => {});
  stream.destroy();
  await closed;
}

async function readBody(response: IncomingMessage) {
  let text = "";
  response.setEncoding("utf8");
  for await (const part of response) text += part;
  const { statusCode: status } = response;
  try {
    const body: unknown = JSON.parse(text);
    return { status, body: isJsonObject(body) ? body : {} };
  } catch {
    throw new Error(`the server answered ${status} with ${JSON.stringify(text.slice(0, 200))}`);
  }
}

function refusal(body: JsonObject): ConformanceReply {
  return { ok: false, failure: body.failure ?? body.error ?? body };
}

/** Server-sent events, as the standard has them; only what the protocol uses. */
function readEvents(response: IncomingMessage, onEvent: (event: JsonObject) => void): void {
  let rest = "";
  response.setEncoding("utf8");
  response.on("error", () => {});
  response.on("data", (text: string) => {
    const lines = (rest + text).split(/\r\n|\n|\r/);
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  });
  let data: string[] = [];
  let fields: JsonObject = {};
  const take = (line: string) => {
    if (line === "") {
      if (data.length > 0) onEvent(withFields(JSON.parse(data.join("\n")), fields));
      data = [];
      fields = {};
      return;
    }
    const [, name = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
    if (name === "data") data.push(value);
    else if (name !== "") fields = { ...fields, [name]: value };
  };
}

/** The frame must say the same as the event in it. */
function withFields(event: JsonObject, { id, event: kind }: JsonObject): JsonObject {
  if (id !== undefined && id !== String(event.id)) return { ...event, id: `the frame says ${id}` };
  if (kind !== undefined && kind !== event.kind) return { ...event, kind: `the frame says ${kind}` };
  return event;
}
