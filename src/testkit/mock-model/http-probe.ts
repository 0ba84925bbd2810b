/** A client for the tests: plain node:http, so that tests see the raw bytes. */
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";

export interface ProbeAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The chunks of the body as the parser returned them. */
  readonly pieces: readonly Buffer[];
  /** The error before the end of the body, if any. */
  readonly broken: string | undefined;
}

export interface ProbeRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  readonly onPiece?: (text: string) => void;
}

/** Rejects only if no answer begins. */
export function probe(url: string, options: ProbeRequest = {}): Promise<ProbeAnswer> {
  const { body, headers = {}, signal, onPiece } = options;
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  const method = options.method ?? (text === undefined ? "GET" : "POST");
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers, agent: false, ...(signal && { signal }) }, (response) => {
      const pieces: Buffer[] = [];
      let broken: string | undefined;
      response.on("data", (piece: Buffer) => {
        pieces.push(piece);
        onPiece?.(piece.toString());
      });
      response.on("error", (error: NodeJS.ErrnoException) => {
        broken = error.code ?? error.message;
      });
      response.on("close", () => {
        const status = response.statusCode ?? 0;
        resolve({ status, headers: response.headers, pieces, broken, text: Buffer.concat(pieces).toString("utf8") });
      });
    });
    request.on("error", reject);
    request.end(text);
  });
}

export interface SseEvent {
  readonly event: string | undefined;
  readonly data: unknown;
}

/** `[DONE]` and other text that is not JSON stay text. */
export function sseEvents(text: string): readonly SseEvent[] {
  const blocks = text.split("\n\n").filter((block) => block.trim() !== "" && !block.startsWith(":"));
  return blocks.map((block) => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
    return { event: field("event"), data: parsed(field("data") ?? "") };
  });
}

export function jsonLines(text: string): readonly unknown[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map(parsed);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/* ---- one request that is right, for each wire ---- */

const question = [{ role: "user", content: "What is in the file?" }];

export const ANTHROPIC_HEADERS = { "x-api-key": "any", "anthropic-version": "2023-06-01" };

export function askAnthropic(url: string, fields: object = {}, options: ProbeRequest = {}): Promise<ProbeAnswer> {
  const body = { model: "mock-model", max_tokens: 100, stream: true, messages: question, ...fields };
  return probe(`${url}/v1/messages`, { headers: ANTHROPIC_HEADERS, ...options, body });
}

export function askOpenai(url: string, fields: object = {}, options: ProbeRequest = {}): Promise<ProbeAnswer> {
  const body = { model: "mock-model", stream: true, messages: question, ...fields };
  return probe(`${url}/v1/chat/completions`, { ...options, body });
}

export function askOllama(url: string, fields: object = {}, options: ProbeRequest = {}): Promise<ProbeAnswer> {
  return probe(`${url}/api/chat`, { ...options, body: { model: "mock-model", messages: question, ...fields } });
}

export function askResponses(url: string, fields: object = {}, options: ProbeRequest = {}): Promise<ProbeAnswer> {
  return probe(`${url}/v1/responses`, {
    ...options,
    body: { model: "mock-model", stream: true, input: question, ...fields },
  });
}

export function askGemini(
  url: string,
  fields: object = {},
  options: ProbeRequest & GeminiTarget = {},
): Promise<ProbeAnswer> {
  const { model = "mock-model", method = "streamGenerateContent?alt=sse", ...rest } = options;
  const contents = [{ role: "user", parts: [{ text: "What is in the file?" }] }];
  const headers = { "x-goog-api-key": "any" };
  // The method is part of the path here; every call is a POST.
  return probe(`${url}/v1beta/models/${model}:${method}`, {
    headers,
    ...rest,
    method: "POST",
    body: { contents, ...fields },
  });
}

export interface GeminiTarget {
  readonly model?: string;
  readonly method?: string;
}
