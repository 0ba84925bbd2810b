/**
 * A server that makes embeddings without a model: texts with the same words, or words that begin alike, get similar vectors. It speaks the
 * protocols of Ollama, OpenAI and llama.cpp. It stands in for an embedding model in tests and benchmarks; it knows no synonyms.
 */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

export interface MockEmbeddingsOptions {
  readonly dimensions?: number;
  /** Paths that it does not know; it answers 404 there. */
  readonly without?: readonly string[];
  /** Tells what it answers instead of vectors. */
  readonly answer?: (request: EmbeddingRequest) => OtherAnswer | undefined;
  /** Called with each request; a number is the status to refuse it with. */
  readonly onRequest?: (request: EmbeddingRequest) => number | undefined | Promise<number | undefined>;
}

/** Another answer than vectors. */
export interface OtherAnswer {
  readonly status?: number;
  readonly value?: unknown;
}

export interface EmbeddingRequest {
  readonly path: string;
  readonly model: string;
  readonly texts: readonly string[];
  readonly authorization: string | undefined;
}

export interface MockEmbeddings {
  readonly url: string;
  readonly requests: readonly EmbeddingRequest[];
  close(): Promise<void>;
}

export async function startMockEmbeddings(options: MockEmbeddingsOptions = {}): Promise<MockEmbeddings> {
  const requests: EmbeddingRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const path = incoming.url ?? "";
    const send = (status: number, value: unknown) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(typeof value === "string" ? value : JSON.stringify(value));
    };
    const body = JSON.parse((await textOf(incoming)) || "{}") as Record<string, unknown>;
    const given = body.input ?? body.content;
    const texts = (Array.isArray(given) ? given : [given]).map(String);
    const { authorization } = incoming.headers;
    const request = { path, model: String(body.model ?? ""), texts, authorization };
    requests.push(request);
    if (options.without?.includes(path)) return send(404, { error: "not found" });
    const refusal = await options.onRequest?.(request);
    if (refusal !== undefined) return send(refusal, { error: { message: "refused" } });
    const other = options.answer?.(request);
    if (other !== undefined) return send(other.status ?? 200, other.value ?? { error: { message: "refused" } });
    const vectors = texts.map((text) => [...hashEmbedding(text, options.dimensions)]);
    if (path === "/api/embed") return send(200, { model: request.model, embeddings: vectors });
    const items = vectors.map((embedding, index) => ({ index, embedding }));
    if (path === "/v1/embeddings") return send(200, { object: "list", data: items.reverse() });
    if (path === "/embedding")
      return send(
        200,
        items.map(({ index, embedding }) => ({ index, embedding: [embedding] })),
      );
    return send(404, { error: "not found" });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("utf8");
}

const PLACES = 8;

/** Each word, and each beginning of four letters, adds a few signed places. */
export function hashEmbedding(text: string, dimensions = 256): Float32Array {
  const vector = new Float32Array(dimensions);
  const counts = new Map<string, number>();
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
    if (word.length > 4) counts.set(word.slice(0, 4), (counts.get(word.slice(0, 4)) ?? 0) + 0.5);
  }
  for (const [word, count] of counts) {
    const weight = (1 + Math.log(count + 0.5)) * Math.min(word.length, 8);
    let seed = hash(word);
    for (let i = 0; i < PLACES; i++) {
      seed = Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
      const at = (seed >>> 1) % dimensions;
      vector[at] = (vector[at] as number) + (seed & 1 ? weight : -weight);
    }
  }
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0)) || 1;
  return vector.map((value) => value / length);
}

/** FNV-1a. */
function hash(word: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < word.length; i++) value = Math.imul(value ^ word.charCodeAt(i), 0x01000193);
  return value | 0;
}
