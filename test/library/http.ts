/** Plain HTTP for the tests of the library's server: nothing between the test and the bytes. */
import { type IncomingMessage, request as open } from "node:http";

export interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  readonly json: unknown;
}

export async function ask(url: string, asked: Asked = {}): Promise<Answered> {
  const response = await send(url, asked);
  let text = "";
  for await (const piece of response.setEncoding("utf8")) text += piece;
  const isJson = response.headers["content-type"]?.includes("application/json") === true;
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text,
    json: isJson ? JSON.parse(text) : undefined,
  };
}

/** A reader of server-sent events. */
export interface Reader {
  readonly response: IncomingMessage;
  /** Holds what came, as it came. */
  readonly text: string;
  /** The JSON of the events so far. */
  readonly events: readonly Record<string, unknown>[];
  /** Waits until what has come satisfies the test; fails when the stream ends before. */
  until(test: (reader: Reader) => boolean): Promise<void>;
  /** Says how it ended: "ended" in good order, "broken" otherwise. */
  readonly ended: Promise<"ended" | "broken">;
  leave(): void;
}

export async function readEvents(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Reader> {
  const response = await send(url, { headers });
  if (response.statusCode !== 200) throw new Error(`GET ${url} answered ${response.statusCode}`);
  const waiting = new Set<() => void>();
  let text = "";
  let over = false;
  response.setEncoding("utf8");
  response.on("data", (piece: string) => {
    text += piece;
    for (const check of waiting) check();
  });
  const ended = new Promise<"ended" | "broken">((resolve) => {
    response.on("error", () => {});
    response.on("close", () => {
      over = true;
      resolve(response.complete ? "ended" : "broken");
      for (const check of waiting) check();
    });
  });
  const reader: Reader = {
    response,
    ended,
    get text() {
      return text;
    },
    get events() {
      const frames = text.split("\n\n").slice(0, -1);
      return frames.filter((frame) => frame.startsWith("data: ")).map((frame) => JSON.parse(frame.slice(6)));
    },
    until: (test) =>
      new Promise((resolve, reject) => {
        const check = () => {
          if (!test(reader) && !over) return;
          waiting.delete(check);
          if (test(reader)) resolve();
          else reject(new Error(`The stream ended with: ${text}`));
        };
        waiting.add(check);
        check();
      }),
    leave: () => response.destroy(),
  };
  return reader;
}

function send(url: string, { method = "GET", headers = {}, body }: Asked): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = open(url, { method, headers, agent: false }, resolve);
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}
