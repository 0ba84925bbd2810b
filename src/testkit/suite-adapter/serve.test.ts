import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { serve } from "./serve.js";

async function ask(...lines: readonly unknown[]): Promise<Record<string, unknown>> {
  const input = new PassThrough();
  const output = new PassThrough();
  input.end(lines.map((line) => (typeof line === "string" ? `${line}\n` : `${JSON.stringify(line)}\n`)).join(""));
  await serve(input, output);
  output.end();
  const answers = (await text(output)).trim().split("\n");
  return Object.fromEntries(answers.map((answer) => [JSON.parse(answer).n, JSON.parse(answer)]));
}

describe("the conformance adapter", () => {
  it("answers by number, says what it does not offer and survives nonsense", async () => {
    const chunks = ["data: a\r", "\n\r\nid: 7\ndata: b\n\n"].map((piece) => Buffer.from(piece).toString("base64"));
    const answers = await ask(
      { n: 1, op: "sse", chunks_b64: chunks },
      "",
      "nonsense",
      { n: 2, op: "fly" },
      { n: 3, op: "toString" },
    );
    expect(answers[1]).toEqual({
      n: 1,
      events: [
        { event: "message", data: "a", last_event_id: "" },
        { event: "message", data: "b", last_event_id: "7" },
      ],
    });
    expect(answers[2]).toEqual({ n: 2, unsupported: true });
    expect(answers[3]).toEqual({ n: 3, unsupported: true });
    expect(answers.undefined).toMatchObject({ status: "error" });
  });

  it("makes one model call and tells it", async () => {
    const server = createServer((request, response) => {
      request.resume();
      const call = { index: 0, id: "a", function: { name: "f", arguments: '{ "x": 1 }' } };
      const deltas = [{ content: "Hi" }, { tool_calls: [call] }];
      const chunks = deltas.map((delta) => `data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`);
      const usage = JSON.stringify({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } });
      response.end(`${chunks.join("")}data: ${usage}\n\n${request.url?.includes("cut") ? "" : "data: [DONE]\n\n"}`);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const answers = await ask(
      { n: 1, op: "stream", protocol: "openai-chat", base_url: `${base}/whole`, model: "m" },
      { n: 2, op: "stream", protocol: "openai-chat", base_url: `${base}/cut`, model: "m" },
      { n: 3, op: "stream", protocol: "telegraph", base_url: base, model: "m" },
    );
    server.close();
    server.closeAllConnections();
    expect(answers[1]).toMatchObject({
      text: "Hi",
      tool_calls: [{ name: "f", arguments: '{ "x": 1 }' }],
      stop_reason: "tool_calls",
      usage: { input: 3, output: 2 },
    });
    expect(answers[1]).not.toHaveProperty("error");
    expect(answers[2]).toMatchObject({ text: "Hi", error: { reason: "StreamInterrupted" } });
    expect(answers[3]).toEqual({ n: 3, unsupported: true });
  });
});
