/** An engine that listens, with the mock model behind it, and a small HTTP client. */
import { mkdtemp, rm } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../src/base/clock.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { mcpMountOf } from "../../src/runtime/mcp-mount.js";
import { controlSocket, type ServedEngine, type ServeOptions, serveEngine } from "../../src/runtime/serve.js";
import { roots } from "../../src/system/xdg-paths.js";
import { type MockModel, type Script, script, startMockModel } from "../../src/testkit/index.js";
import { undescribed } from "./described-answers.js";
import { type HostedEngine, hostEngine } from "./hosted-engine.js";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any response.
  readonly json: any;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Exactly these bytes as the body. */
  readonly raw?: string | Buffer;
  readonly token?: string | undefined;
  readonly over?: "socket" | "port";
}

export interface Served {
  readonly hosted: HostedEngine;
  readonly served: ServedEngine;
  readonly mock: MockModel;
  readonly home: string;
  readonly socket: string;
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly token: string;
  ask(path: string, options?: AskOptions): Promise<Answer>;
  /** Shakes hands, creates a session and returns its id. */
  newSession(): Promise<SessionId>;
  close(): Promise<void>;
}

export interface ServedOptions {
  readonly script?: Script;
  readonly serve?: Partial<ServeOptions>;
  readonly clock?: Clock;
  /** The clock of the engine itself. */
  readonly engineClock?: Clock;
  readonly flags?: readonly string[];
  /** Other agents reach it at `/mcp`. */
  readonly mcp?: true;
}

export async function serve(options: ServedOptions = {}): Promise<Served> {
  const base = await mkdtemp(join(tmpdir(), "served-"));
  const mock = await startMockModel({ script: options.script ?? script([]) });
  const home = join(base, "h");
  const hosted = await hostEngine(base, mock, {
    home,
    ...(options.flags && { flags: options.flags }),
    ...(options.engineClock && { clock: options.engineClock }),
  });
  const { engine } = hosted;
  const places = roots({ OXBOW_HOME: home });
  const end = async () => {
    await engine.close();
    await mock.close();
    await rm(base, { recursive: true, force: true });
  };
  const served = await serveEngine(options.clock === undefined ? engine : { ...engine, clock: options.clock }, {
    roots: places,
    variables: {},
    listen: ["127.0.0.1:0"],
    mounts: options.mcp ? [mcpMountOf(engine, { variables: {}, log: () => {} })] : [],
    ...options.serve,
  }).catch(async (error) => {
    await end();
    throw error;
  });
  const socket = controlSocket(places);
  const url = served.addresses.find((address) => address.startsWith("http")) ?? "";
  const ask: Served["ask"] = (path, how = {}) => {
    const { over = "socket", token = served.ownerToken } = how;
    const headers = {
      ...("token" in how && how.token === undefined ? {} : { "x-oxbow-token": token }),
      ...how.headers,
    };
    return askAt(over === "socket" ? { socketPath: socket } : { url }, path, { ...how, headers });
  };
  return {
    ...{ hosted, served, mock, home, socket, url, ask },
    token: served.ownerToken,
    newSession: async () => {
      await ask("/v1/handshake");
      return (await ask("/v1/sessions", { method: "POST" })).json.session;
    },
    close: async () => {
      await served.close();
      await end();
    },
  };
}

function askAt(
  place: { readonly socketPath: string } | { readonly url: string },
  path: string,
  { method = "GET", headers = {}, body, raw }: AskOptions,
): Promise<Answer> {
  const where = "url" in place ? { host: "127.0.0.1", port: Number(new URL(place.url).port) } : place;
  return new Promise((resolve, reject) => {
    const sent = request({ ...where, method, path, headers, agent: false }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(pieces).toString("utf8");
        const isJson = response.headers["content-type"]?.startsWith("application/json");
        const json = isJson && text !== "" ? JSON.parse(text) : undefined;
        const problem = json && undescribed(method, path, response.statusCode ?? 0, json);
        if (problem !== undefined) reject(new Error(problem));
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json });
      });
    });
    sent.on("error", reject);
    sent.end(raw ?? (body === undefined ? undefined : JSON.stringify(body)));
  });
}

/** The frames of a stream as they arrive; `until` waits for one. */
export class StreamReader {
  readonly frames: { readonly id: string; readonly event: string; readonly data: unknown }[] = [];
  readonly comments: string[] = [];
  readonly ended: Promise<void>;
  readonly #close: () => void;
  #rest = "";
  #look = () => {};

  private constructor(response: IncomingMessage, close: () => void) {
    this.#close = close;
    response.setEncoding("utf8");
    response.on("data", (text: string) => this.#take(text));
    this.ended = new Promise((resolve) => response.on("close", () => resolve()));
    response.on("error", () => {});
  }

  static open(
    served: Pick<Served, "socket">,
    path: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<StreamReader> {
    return new Promise((resolve, reject) => {
      const sent = request({ socketPath: served.socket, path, headers, agent: false }, (response) => {
        if (response.statusCode === 200) resolve(new StreamReader(response, () => sent.destroy()));
        else reject(new Error(`status ${response.statusCode}`));
      });
      sent.on("error", reject);
      sent.end();
    });
  }

  until(event: string): Promise<void> {
    return this.untilCount(event, 1);
  }

  async untilCount(event: string, count: number): Promise<void> {
    while (this.frames.filter((frame) => frame.event === event).length < count) {
      await new Promise<void>((resolve) => {
        this.#look = resolve;
      });
    }
  }

  close(): void {
    this.#close();
  }

  #take(text: string): void {
    const blocks = `${this.#rest}${text}`.split("\n\n");
    this.#rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const lines = block.split("\n");
      if (block.startsWith(":")) this.comments.push(block);
      else {
        const field = (name: string) =>
          lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? "";
        this.frames.push({ id: field("id"), event: field("event"), data: JSON.parse(field("data")) });
      }
    }
    this.#look();
  }
}
