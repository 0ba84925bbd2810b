/** Reaches a server over WebSockets. */
import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import type { JsonObject } from "../../../../protocol/json.js";
import type { ConformanceConnection, ConformanceReply, ConformanceTransport } from "../transport.js";
import { FrameConnection } from "./frames.js";
import { abilitiesOf, tokenFor, type WireOptions } from "./wire-options.js";

export function webSocketTransport(
  url: string,
  options: WireOptions & { readonly ca?: string | undefined },
): ConformanceTransport {
  return {
    name: "ws",
    abilities: abilitiesOf(options),
    connect: (identity, other) =>
      open(withPath(url), { token: tokenFor(options, { identity, other }), ca: options.ca }),
    close: async () => {},
  };
}

function withPath(url: string): string {
  const parsed = new URL(url);
  if (parsed.pathname === "/" || parsed.pathname === "") parsed.pathname = "/v1/ws";
  return parsed.href;
}

function open(
  url: string,
  { token, ca }: { readonly token: string | undefined; readonly ca: string | undefined },
): Promise<ConformanceConnection> {
  const headers = token === undefined ? {} : { "x-oxbow-token": token };
  const socket = new WebSocket(url, { headers, ...(ca !== undefined && { ca }) });
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const connection = new FrameConnection({
    send: (text) => socket.send(text),
    drop: async () => {
      socket.terminate();
      await closed;
    },
  });
  socket.on("message", (data) => connection.take(String(data)));
  socket.once("close", (code) => connection.closed(`the server closed the connection (${code})`));
  return new Promise((resolve, reject) => {
    socket.on("unexpected-response", (_request, response) => {
      refusalOf(response)
        .then((refusal) => resolve(refusedConnection(refusal)), reject)
        .finally(() => socket.terminate());
    });
    socket.on("error", reject);
    socket.once("open", () => resolve(connection));
  });
}

/** The server did not open the socket, and said why. */
async function refusalOf(response: IncomingMessage): Promise<ConformanceReply> {
  let text = "";
  for await (const part of response.setEncoding("utf8")) text += part;
  const { error } = JSON.parse(text) as { readonly error?: JsonObject };
  return { ok: false, failure: error ?? { reason: `status ${response.statusCode}` } };
}

function refusedConnection(refusal: ConformanceReply): ConformanceConnection {
  const refuse = async () => refusal;
  return {
    handshake: refuse,
    command: refuse,
    query: refuse,
    follow: refuse,
    unfollow: async () => {},
    drop: async () => {},
  };
}
