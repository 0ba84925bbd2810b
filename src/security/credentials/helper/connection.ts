/**
 * One connection from an engine: requests are read, given their key and passed on; answers are passed back as they come.
 *
 * 1. It has at most one connection to a provider. When one side ends, the other ends, too.
 * 2. Answers are not parsed. Each side is read only as fast as the other takes it.
 * 3. A head is read only when the body before it has been passed on.
 */
import type { Socket } from "node:net";
import type { Clock } from "../../../base/clock.js";
import { HttpError } from "../../../system/http-error.js";
import { CredentialError } from "../credential-error.js";
import {
  CREDENTIAL_HEADER,
  ERROR_HEADER,
  type HelperProblem,
  parseCredentialName,
  REFUSED_HEADER,
  TOKEN_HEADER,
} from "./helper-protocol.js";
import { forwardedHead, headerOf, isBelow, MAX_HEAD_BYTES, parseHead, type RequestHead } from "./request-head.js";
import { SecretFilter } from "./secret-filter.js";
import type { Upstream } from "./upstream.js";
import type { Authority, Vault } from "./vault.js";

export interface ConnectionOptions {
  readonly vault: Pick<Vault, "authority">;
  readonly clock: Clock;
  readonly isToken: (token: string) => boolean;
  /** Rejects with an HttpError. */
  readonly connect: (origin: URL) => Promise<Upstream>;
  /** A request for the helper itself, with what has arrived of its body. */
  readonly onOwn: (head: RequestHead, socket: Socket, begun: Buffer) => void | Promise<void>;
  /** The file has another key by now. */
  readonly onStale: () => void;
}

const CONNECT_MS = 10_000;
const END_OF_HEAD = "\r\n\r\n";

export class Connection {
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  #upstream: (Upstream & { readonly origin: string; readonly credential: string }) | undefined;
  /** Read and not yet passed on. */
  #pending: Buffer = Buffer.alloc(0);
  #bodyLeft = 0;
  /** A part of the answer to the last request has arrived. */
  #answered = false;
  #requests = 0;
  #working = false;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on("data", (piece: Buffer) => this.#take(piece));
    socket.on("drain", () => this.#upstream?.socket.resume());
    // Both are followed by "close".
    socket.on("error", () => {});
    socket.on("close", () => this.#upstream?.socket.destroy());
  }

  #take(piece: Buffer): void {
    this.#pending = this.#pending.length === 0 ? piece : Buffer.concat([this.#pending, piece]);
    this.#advance();
  }

  #advance(): void {
    while (this.#pending.length > 0 && !this.#working) {
      if (this.#bodyLeft > 0) this.#passBody();
      else if (!this.#readHead()) return;
    }
  }

  #passBody(): void {
    const body = this.#pending.subarray(0, this.#bodyLeft);
    this.#pending = this.#pending.subarray(body.length);
    this.#bodyLeft -= body.length;
    if (this.#upstream?.socket.write(body) === false) this.#socket.pause();
  }

  /** False while there is no whole one. */
  #readHead(): boolean {
    const end = this.#pending.indexOf(END_OF_HEAD);
    if (end < 0) {
      if (this.#pending.length > MAX_HEAD_BYTES) this.#refuse(400, { code: "refused", message: "It is too long." });
      return false;
    }
    const head = parseHead(this.#pending.toString("latin1", 0, end));
    this.#pending = this.#pending.subarray(end + END_OF_HEAD.length);
    if (head === undefined) this.#refuse(400, { code: "refused", message: "This is not a request." });
    else if (!this.#options.isToken(headerOf(head, TOKEN_HEADER) ?? "")) {
      this.#refuse(401, { code: "token", message: "The token does not belong to this helper." });
    } else this.#work(head);
    return true;
  }

  #work(head: RequestHead): void {
    this.#working = true;
    this.#socket.pause();
    const done = () => {
      this.#working = false;
      this.#socket.resume();
      this.#advance();
    };
    this.#forward(head).then(done, (error: unknown) => {
      this.#explain(error);
    });
  }

  async #forward(head: RequestHead): Promise<void> {
    const credential = headerOf(head, CREDENTIAL_HEADER);
    if (credential === undefined) {
      const begun = this.#pending;
      this.#pending = Buffer.alloc(0);
      return this.#options.onOwn(head, this.#socket, begun);
    }
    const name = parseCredentialName(credential);
    if (name === undefined) throw new CredentialError("refused", "The credential's name cannot be read.");
    const token = headerOf(head, REFUSED_HEADER) === undefined ? "fresh" : "refused";
    const authority = await this.#options.vault.authority(name, token);
    const { origin, headers } = authority;
    if (!isBelow(head.target, origin.pathname)) {
      throw new CredentialError("refused", `The key of ${name.provider} is only for ${origin.href}.`);
    }
    const open = this.#upstream;
    // The address of the provider has changed, or the engine mixed up two credentials: a new connection solves both.
    if (open !== undefined && (open.credential !== credential || open.origin !== origin.origin)) {
      this.#socket.destroy();
      return;
    }
    this.#answered = false;
    this.#requests++;
    const upstream = open ?? (await this.#connect(authority, credential));
    this.#bodyLeft = head.bodyBytes;
    const { forwarded } = upstream;
    const add = { ...headers, ...forwarded?.headers };
    const { host, origin: prefix } = origin;
    upstream.socket.write(forwardedHead(head, { host, add, ...(forwarded && { prefix }) }), "latin1");
  }

  async #connect({ origin, secrets }: Authority, credential: string): Promise<Upstream> {
    const connected = await this.#options.connect(origin);
    const { socket: upstream } = connected;
    if (this.#socket.destroyed) {
      upstream.destroy();
      return connected;
    }
    this.#upstream = { ...connected, origin: origin.origin, credential };
    const cancel = this.#options.clock.after(CONNECT_MS, () => {
      this.#fail({ code: "timeout", message: `no connection within ${CONNECT_MS / 1000}s` });
    });
    const send = (piece: Buffer) => {
      if (!this.#socket.write(piece)) upstream.pause();
    };
    const filter = new SecretFilter(secrets, { clock: this.#options.clock, send });
    if (connected.isReady) cancel();
    else upstream.once(origin.protocol === "https:" ? "secureConnect" : "connect", cancel);
    upstream.on("data", (piece: Buffer) => {
      this.#answered = true;
      filter.push(piece);
    });
    upstream.on("drain", () => this.#socket.resume());
    upstream.on("error", (error: NodeJS.ErrnoException) => {
      const code = upstream.connecting || upstream.bytesRead === 0 ? "connect" : "dropped";
      this.#fail({ code, message: error.message, ...(error.code !== undefined && { cause: error.code }) });
    });
    upstream.on("close", () => {
      cancel();
      filter.flush();
      if (!this.#answered && this.#requests === 1) this.#fail({ code: "dropped", message: "it closed the connection" });
      else this.#socket.end();
    });
    return connected;
  }

  /** The helper can answer only the first request itself: later it does not know where the previous answer ended. */
  #fail(problem: HelperProblem): void {
    if (this.#answered || this.#requests > 1) this.#socket.destroy();
    else this.#refuse(502, problem);
  }

  #explain(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof HttpError) {
      const cause = error.code === undefined ? {} : { cause: error.code };
      this.#fail({ code: error.kind, message, isWorded: true, ...cause });
      return;
    }
    const code = error instanceof CredentialError ? error.code : "failed";
    if (code === "wrong-key") this.#options.onStale();
    else if (this.#requests > 0) this.#socket.destroy();
    else this.#refuse(code === "refused" ? 403 : 503, { code, message });
  }

  #refuse(status: number, problem: HelperProblem): void {
    this.#pending = Buffer.alloc(0);
    this.#working = true;
    this.#answered = true;
    answer(this.#socket, { status, body: problem, headers: { [ERROR_HEADER]: problem.code } });
  }
}

export interface OwnAnswer {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer of the helper's own, and the end of the connection. */
export function answer(socket: Socket, { status, body, headers = {} }: OwnAnswer): void {
  const text = Buffer.from(JSON.stringify(body));
  const lines = Object.entries({
    "content-type": "application/json",
    "content-length": String(text.length),
    connection: "close",
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  // The rest of the request is read and discarded, because a reset would lose the answer.
  socket.removeAllListeners("data");
  socket.resume();
  socket.end(Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Helper\r\n${lines.join("")}\r\n`), text]));
}
