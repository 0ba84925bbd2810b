/**
 * The credential helper as a server; helper-protocol.ts describes its protocol.
 *
 * 1. It listens before its note appears, and of several helpers that start at once one note stays: the others end.
 * 2. It ends when the credential file was written with another key: the next helper gets that key.
 * 3. It is in use while a client is connected, and exits after a while without one: soon if it has keys of terminals, which no process but the
 *    engine of that time uses. It removes its note. One with keys of terminals is never replaced by a helper of another version or with
 *    another proxy: between the end of an engine and the start of the next one no client is connected, and the keys are nowhere else.
 * 4. An engine that ends in order says so: then it ends with its last client, unless a passphrase opened it. After a kill it waits for the next
 *    engine.
 * 5. Without its note no client finds it any more: it ends as soon as no client is connected, so it does not outlive its home.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { type FSWatcher, linkSync, rmSync, unlinkSync, watch, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { reachable } from "../../../system/socket-path.js";
import type { ApiKeyEntry } from "../entry.js";
import { answer, Connection, type ConnectionOptions } from "./connection.js";
import {
  BEAT_MS,
  endpointPath,
  type HelperEndpoint,
  PROTOCOL,
  privateFolder,
  readEndpoint,
  removeNote,
} from "./helper-protocol.js";
import { headerOf, type RequestHead } from "./request-head.js";
import type { Vault } from "./vault.js";

const MAX_KEYS_BYTES = 256 * 1024;
/** From the moment that a terminal gives a key until the engine, which may have to start first, watches the helper. */
const LENT_MS = 60_000;

export interface HelperServerOptions extends Pick<ConnectionOptions, "clock" | "connect"> {
  readonly vault: Pick<Vault, "authority" | "lend">;
  readonly folder: string;
  readonly version: string;
  readonly startTime: number;
  /** Without connections. */
  readonly idleMs: number;
  /** It was opened with a passphrase, which the next helper would have to ask for. */
  readonly isUnlocked?: boolean;
  readonly onEnd: () => void;
}

export class HelperServer {
  readonly #options: HelperServerOptions;
  readonly #token = randomBytes(32).toString("hex");
  readonly #digest: Buffer;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer({ noDelay: true }, (socket) => this.#accept(socket));
  readonly #socketName = `${randomBytes(6).toString("hex")}.sock`;
  #cancelIdle = () => {};
  #watcher: FSWatcher | undefined;
  /** The time when a terminal gave keys last. */
  #lentAt: number | undefined;
  #endsWithLast = false;
  #ended = false;

  constructor(options: HelperServerOptions) {
    this.#options = options;
    this.#digest = digest(this.#token);
  }

  /** False if another helper already runs. */
  async start(): Promise<boolean> {
    const folder = privateFolder(this.#options.folder);
    const path = reachable(folder, this.#socketName);
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject).listen(path, resolve);
    });
    this.#idle();
    while (!publish(folder, this.#endpoint())) {
      const other = readEndpoint(folder);
      if (other !== undefined && (await isThere(reachable(folder, other.socket)))) {
        this.end();
        return false;
      }
      // Left behind by one that could not clean up.
      removeNote(folder, other?.token);
    }
    const look = () => this.#isFound() || this.#idle();
    this.#watcher = watch(folder, look).on("error", look);
    return true;
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#cancelIdle();
    this.#watcher?.close();
    const { folder } = this.#options;
    if (this.#isFound()) rmSync(endpointPath(folder), { force: true });
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    rmSync(join(folder, this.#socketName), { force: true });
    this.#options.onEnd();
  }

  #endpoint(): HelperEndpoint {
    const { version, startTime } = this.#options;
    return { version, pid: process.pid, startTime, socket: this.#socketName, token: this.#token };
  }

  #accept(socket: Socket): void {
    this.#cancelIdle();
    this.#sockets.add(socket);
    socket.once("close", () => {
      this.#sockets.delete(socket);
      this.#idle();
    });
    new Connection(socket, {
      ...this.#options,
      isToken: (token) => timingSafeEqual(digest(token), this.#digest),
      onOwn: (head, from, begun) => this.#own(head, from, begun),
      onStale: () => this.end(),
    });
  }

  #idle(): void {
    this.#cancelIdle();
    if (this.#ended || this.#sockets.size > 0) return;
    const { clock, idleMs } = this.#options;
    const patience = this.#endsWithLast ? 0 : this.#lentAt !== undefined ? Math.min(LENT_MS, idleMs) : idleMs;
    if (this.#watcher !== undefined && !this.#isFound()) this.end();
    else this.#cancelIdle = clock.after(patience, () => this.end());
  }

  #isFound(): boolean {
    return readEndpoint(this.#options.folder)?.token === this.#token;
  }

  #own(head: RequestHead, socket: Socket, begun: Buffer): void | Promise<void> {
    const { method, target } = head;
    const { version } = this.#options;
    const others = this.#sockets.size - 1;
    if (method === "GET" && target === "/status") {
      answer(socket, { status: 200, body: { protocol: PROTOCOL, version, pid: process.pid, connections: others } });
    } else if (method === "POST" && target === "/leave") {
      const { clock, isUnlocked = false } = this.#options;
      // Keys that came just now are for the next engine.
      const isFresh = this.#lentAt !== undefined && clock.now() - this.#lentAt < LENT_MS;
      this.#endsWithLast = !isUnlocked && !isFresh;
      answer(socket, { status: 200, body: { ends: this.#endsWithLast } });
    } else if (method === "GET" && target === "/watch") this.#watch(socket);
    else if (method === "POST" && target === "/keys") return this.#takeKeys(head, socket, begun);
    else if (method === "POST" && (target === "/retire" || target === "/stop")) {
      const ends = target === "/stop" || (others === 0 && this.#lentAt === undefined);
      // The client must be able to start another helper at once.
      if (ends) rmSync(endpointPath(this.#options.folder), { force: true });
      socket.once("close", () => ends && this.end());
      answer(socket, { status: 200, body: { ends } });
    } else answer(socket, { status: 404, body: { message: "Unknown request." } });
  }

  async #takeKeys(head: RequestHead, socket: Socket, begun: Buffer): Promise<void> {
    try {
      const length = Number(headerOf(head, "content-length") ?? Number.NaN);
      if (!(length <= MAX_KEYS_BYTES)) throw new Error("The keys are too long.");
      const text = (await restOf(socket, begun, length)).toString("utf8");
      this.#options.vault.lend(JSON.parse(text) as readonly ApiKeyEntry[]);
      this.#lentAt = this.#options.clock.now();
      this.#endsWithLast = false;
      answer(socket, { status: 200, body: { taken: true } });
    } catch {
      // No word of what came: it may hold a key.
      answer(socket, { status: 400, body: { message: "The keys cannot be read." } });
    }
  }

  #watch(socket: Socket): void {
    this.#endsWithLast = false;
    socket.write("HTTP/1.1 200 Helper\r\ncontent-type: application/octet-stream\r\n\r\n\0");
    const { clock } = this.#options;
    let cancel = () => {};
    const beat = () => {
      cancel = clock.after(BEAT_MS, () => {
        socket.write("\0");
        beat();
      });
    };
    beat();
    socket.once("close", () => cancel());
  }
}

function restOf(socket: Socket, begun: Buffer, length: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let body = begun;
    const look = () => {
      if (body.length >= length) resolve(body.subarray(0, length));
    };
    socket.removeAllListeners("data").on("data", (piece: Buffer) => {
      body = Buffer.concat([body, piece]);
      look();
    });
    socket.once("close", () => reject(new Error("The connection ended.")));
    socket.resume();
    look();
  });
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function isThere(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}

/** False when there is a note. */
function publish(folder: string, endpoint: HelperEndpoint): boolean {
  const temporary = join(folder, `${endpoint.socket}.json`);
  writeFileSync(temporary, JSON.stringify(endpoint), { mode: 0o600, flag: "wx" });
  try {
    linkSync(temporary, endpointPath(folder));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    unlinkSync(temporary);
  }
}
