/** Reaches a server over WebSockets. */
import { WebSocket } from "ws";
import type { ConformanceConnection, ConformanceTransport } from "../transport.js";
import { FrameConnection } from "./frames.js";
import { abilitiesOf, type WireOptions } from "./wire-options.js";

export function webSocketTransport(
  url: string,
  options: WireOptions & { readonly ca?: string | undefined },
): ConformanceTransport {
  return {
    name: "ws",
    abilities: abilitiesOf(options),
    connect: (identity) => open(withPath(url), { token: options.tokens[identity], ca: options.ca }),
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
    socket.on("error", reject);
    socket.once("open", () => resolve(connection));
  });
}
