/** Keeps the messages of the last minutes between Oxbow and a server, within limits, for people who look why a server behaves as it does. */
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { Clock } from "../../base/clock.js";
import type { McpMessage } from "../../protocol/queries.js";
import { changeIncoming } from "./incoming-messages.js";

const KEPT_MS = 10 * 60_000;
const MOST_MESSAGES = 500;
/** Of one message. */
const MOST_CHARACTERS = 8 * 1024;
/** A secret that the cut goes through would not be recognised: so much before it is left out. */
const BEFORE_CUT = 512;

export class ServerTraffic {
  readonly #clock: Clock;
  #messages: readonly McpMessage[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Oldest first. */
  shown(redact: (text: string) => string): readonly McpMessage[] {
    return this.#recent().map((message) => {
      const isCut = message.text.length === MOST_CHARACTERS;
      const text = redact(message.text);
      return { ...message, text: isCut ? `${text.slice(0, -BEFORE_CUT)}…` : text };
    });
  }

  #recent(): readonly McpMessage[] {
    const since = new Date(this.#clock.wall() - KEPT_MS).toISOString();
    return this.#messages.filter(({ at }) => at >= since);
  }

  /** To be called before the library uses the transport. */
  watch(transport: Transport): void {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      for (const each of [message].flat()) this.#add("client", each);
      return send(message, options);
    };
    changeIncoming(transport, (message) => {
      this.#add("server", message);
      return message;
    });
  }

  #add(from: McpMessage["from"], message: JSONRPCMessage): void {
    const { method, id, error } = message as { method?: unknown; id?: unknown; error?: unknown };
    const text = JSON.stringify(message);
    const seen: McpMessage = {
      ...{ at: new Date(this.#clock.wall()).toISOString(), from },
      ...(typeof method === "string" && { method }),
      ...(id !== undefined && id !== null && { id: String(id) }),
      ...(error !== undefined && { failed: true as const }),
      ...{ bytes: Buffer.byteLength(text), text: text.slice(0, MOST_CHARACTERS) },
    };
    this.#messages = [...this.#recent(), seen].slice(-MOST_MESSAGES);
  }
}
