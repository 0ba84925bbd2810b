/** Shows how retries handle errors of external suites (`wire/http-errors.json` and `wire/edge.json`). */

import { existsSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it } from "vitest";
import { unless } from "../../../test/support/needs.js";
import { systemClock } from "../../base/clock.js";
import type { ModelEvent } from "../../engine/ports.js";
import type { JsonObject } from "../../protocol/json.js";
import { createHttpClient } from "../../system/http-client.js";
import { createHttpModel } from "../http-model.js";
import { loadWire, type WireName } from "../named.js";
import { withRetries } from "./attempts.js";

const FOLDER = join(
  process.env.OXBOW_SUITES || fileURLToPath(new URL("../../../../shared/suites", import.meta.url)),
  "wire",
);
const noSuites = existsSync(join(FOLDER, "edge.json")) ? undefined : `needs the suites at ${FOLDER}: set OXBOW_SUITES`;

const WIRES: Readonly<Record<string, WireName>> = {
  "anthropic-messages": "anthropic",
  "openai-chat": "openai-chat",
  "openai-responses": "openai-responses",
  gemini: "gemini",
  "ollama-chat": "ollama",
};

function load(file: string): readonly JsonObject[] {
  if (!noSuites === undefined) return [];
  const { cases } = JSON.parse(readFileSync(join(FOLDER, file), "utf8")) as { cases: JsonObject[] };
  return cases.filter(({ protocol }) => WIRES[String(protocol)] !== undefined);
}

let server: Server | undefined;
afterEach(() => {
  server?.close();
  server?.closeAllConnections();
});

/** The number of requests when the service always answers like this, and the final message. */
async function ask(
  protocol: string,
  reply: { status?: number; type: string; headers?: Record<string, string>; body: string },
) {
  let asked = 0;
  server = createServer((request, response) => {
    request.resume().on("end", () => {
      asked++;
      response.writeHead(reply.status ?? 200, { "content-type": reply.type, ...reply.headers }).end(reply.body);
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const wire = await loadWire(WIRES[protocol] as WireName);
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const endpoint = { provider: "acme", family: wire.name, baseUrl, key: "any", local: false };
  const http = createHttpClient();
  const hasty = {
    ...systemClock,
    after: (ms: number, action: () => void) => systemClock.after(Math.min(ms, 1), action),
  };
  const model = withRetries(createHttpModel({ wire, endpoint, model: "m", http }), {
    clock: hasty,
    random: () => 0,
    totalWaitMs: 3_600_000,
  });
  const events: ModelEvent[] = [];
  const request = { model: "m", system: "", messages: [], tools: [] };
  const signal = new AbortController().signal;
  for await (const batch of model.stream(request, { model, signal })) events.push(...batch);
  http.close();
  return { asked, events, last: events.at(-1) };
}

unless(noSuites).describe("[M9] errors over HTTP", () => {
  const cases = load("http-errors.json").map((item, index) => ({
    index,
    protocol: String(item.protocol),
    status: Number(item.status),
    item,
  }));

  it.each(cases)("$index: $protocol $status", async ({ protocol, status, item }) => {
    const body = typeof item.body === "string" ? item.body : JSON.stringify(item.body);
    const headers: Record<string, string> = item.retry_after ? { "retry-after": String(item.retry_after) } : {};
    const { asked, events, last } = await ask(protocol, { status, type: "application/json", headers, body });
    expect(last).toMatchObject({ type: "failure", failure: { status } });
    const isBusy = status === 429 && !/per day|daily|insufficient_quota/i.test(body);
    expect(asked).toBe(isBusy ? 7 : 1);
    expect(events.filter(({ type }) => type === "again")).toHaveLength(asked - 1);
    if (isBusy && last?.type === "failure") expect(last.failure.message).toContain("(7 attempts)");
  });
});

unless(noSuites).describe("[M9] edges", () => {
  const cases = load("edge.json")
    .filter(({ body, expect: expected }) => body !== undefined && (expected as JsonObject).error !== undefined)
    .map((item) => ({ id: String(item.id), protocol: String(item.protocol), item }));

  it.each(cases)("$id", async ({ protocol, item }) => {
    const type = typeof item.content_type === "string" ? item.content_type : "text/event-stream";
    const { asked, events, last } = await ask(protocol, { type, body: String(item.body) });
    const { error, text_before_error: before } = item.expect as JsonObject;
    expect(last?.type).toBe("failure");
    if ((error as JsonObject).retryable === true) expect(asked).toBeGreaterThan(1);
    // However often it broke at the same place, it was said once.
    const said = events.map((event) => (event.type === "text" ? event.text : "")).join("");
    if (before !== undefined) expect(said).toBe(before);
    expect(asked).toBeLessThan(12);
  });
});
