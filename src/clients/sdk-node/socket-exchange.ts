/** HTTP over a Unix socket, or plain HTTP, with Node's own client: it loads faster than `fetch`. */
import { setMaxListeners } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import type { Exchange, ExchangeAnswer } from "../sdk/exchange.js";

/** Shorter than the server keeps a connection: a request on one that the server is closing would be lost. */
const IDLE_MS = 4000;
/** A local engine takes a connection at once. */
const ANSWER_MS = 30_000;

export function socketExchange(socketPath: string): Exchange {
  const agent = new Agent({ keepAlive: true, timeout: IDLE_MS });
  return ({ method, path, headers, body, signal }) =>
    new Promise<ExchangeAnswer>((resolve, reject) => {
      signal?.throwIfAborted();
      const sent = request({ agent, socketPath, method, path, headers: { ...headers, host: "localhost" } });
      // Node's own option ends the connection with an error, which nothing handles when the answer is complete.
      const end = () => void sent.destroy();
      // All requests of a client share a signal, and Node would print a warning onto the screen.
      if (signal !== undefined) setMaxListeners(0, signal);
      signal?.addEventListener("abort", end, { once: true });
      sent.on("close", () => signal?.removeEventListener("abort", end));
      // Only until the answer begins: a stream of events may be silent for longer.
      sent.setTimeout(ANSWER_MS, () => sent.destroy(new Error("there is no answer")));
      sent.on("error", reject);
      sent.on("response", (response) => {
        sent.setTimeout(0);
        resolve(answerOf(response));
      });
      sent.end(body);
    });
}

function answerOf(response: IncomingMessage): ExchangeAnswer {
  // A reader gets the error from its iterator. When a stream is ended here, there is no reader any more.
  response.on("error", () => {});
  return {
    status: response.statusCode ?? 0,
    text: async () => {
      const pieces: Buffer[] = [];
      for await (const piece of response) pieces.push(piece as Buffer);
      return Buffer.concat(pieces).toString("utf8");
    },
    pieces: () => response,
  };
}
