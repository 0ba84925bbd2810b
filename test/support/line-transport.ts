/** The client's end of a protocol with one JSON message a line. */
import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #from: Readable;
  readonly #to: Writable;
  #rest = "";
  /** Sees each message as it came: the library drops fields that it does not know. */
  look: (message: JSONRPCMessage) => void = () => {};

  constructor(from: Readable, to: Writable) {
    this.#from = from;
    this.#to = to;
  }

  async start(): Promise<void> {
    this.#from.setEncoding("utf8");
    this.#from.on("data", (piece: string) => {
      const lines = (this.#rest + piece).split("\n");
      this.#rest = lines.pop() ?? "";
      for (const line of lines) {
        const message = JSON.parse(line) as JSONRPCMessage;
        this.look(message);
        this.onmessage?.(message);
      }
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#to.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    this.#to.end();
    this.onclose?.();
  }
}
