/** A connection in both directions that carries frames of JSON: a WebSocket, or the standard input and output of a program. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../../protocol/json.js";
import type { ConformanceConnection, ConformanceReply, FollowRequest } from "../transport.js";

export interface FrameLine {
  readonly send: (text: string) => void;
  /** Closes it without a word; resolves when it is closed. */
  readonly drop: () => Promise<void>;
}

export class FrameConnection implements ConformanceConnection {
  readonly #line: FrameLine;
  readonly #waiting = new Map<JsonValue, (body: JsonObject) => void>();
  readonly #followed = new Map<string, (event: JsonObject) => void>();
  #greeted: ((reply: ConformanceReply) => void) | undefined;
  #count = 0;
  #lost: ConformanceReply | undefined;

  constructor(line: FrameLine) {
    this.#line = line;
  }

  /** A frame from the server. */
  take(text: string): void {
    const frame: unknown = JSON.parse(text);
    if (!isJsonObject(frame) || !isJsonObject(frame.body)) throw new Error(`the server sent ${text.slice(0, 200)}`);
    const { frame: kind, id, body } = frame;
    if (kind === "event") this.#followed.get(String(body.session))?.(body);
    else if (kind === "handshake") this.#greet({ ok: true, handshake: body });
    else if (kind === "reply" && id === undefined) this.#greet(body);
    else if (kind === "reply") this.#answer(id ?? null, body);
  }

  /** The connection is closed: nothing will be answered any more. */
  closed(reason: string): void {
    this.#lost = { ok: false, failure: { reason: "ConnectionLost", message: reason } };
    this.#greet(this.#lost);
    for (const id of [...this.#waiting.keys()]) this.#answer(id, this.#lost);
  }

  readonly handshake = (hello: JsonObject): Promise<ConformanceReply> =>
    new Promise((resolve) => {
      this.#greeted = resolve;
      this.#send({ frame: "handshake", body: hello });
    });

  readonly command = (body: JsonObject): Promise<ConformanceReply> => this.#ask("command", body);

  readonly query = (body: JsonObject): Promise<ConformanceReply> => this.#ask("query", body);

  readonly follow = async ({ session, after, at, onEvent }: FollowRequest): Promise<ConformanceReply> => {
    // A server may attach the client that created the session.
    if (after !== undefined) await this.command({ kind: "DetachSession", session, payload: {} });
    this.#followed.set(session, onEvent);
    const payload = after === undefined ? {} : { after, ...(at !== undefined && { after_ts: at }) };
    return this.command({ kind: "AttachSession", session, payload });
  };

  readonly unfollow = async (session: string): Promise<void> => {
    await this.command({ kind: "DetachSession", session, payload: {} });
  };

  readonly drop = (): Promise<void> => this.#line.drop();

  #ask(frame: "command" | "query", body: JsonObject): Promise<ConformanceReply> {
    if (this.#lost !== undefined) return Promise.resolve(this.#lost);
    this.#count += 1;
    const id = this.#count;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#send({ frame, id, body });
    });
  }

  #answer(id: JsonValue, body: JsonObject): void {
    this.#waiting.get(id)?.(body);
    this.#waiting.delete(id);
  }

  #greet(reply: ConformanceReply): void {
    this.#greeted?.(reply);
    this.#greeted = undefined;
  }

  #send(frame: JsonObject): void {
    this.#line.send(JSON.stringify(frame));
  }
}
