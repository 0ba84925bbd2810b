import { describe, expect, it } from "vitest";
import { ManualClock } from "../../base/clock.js";
import type { ModelEvent, ModelRequest, ToolSpec } from "../../engine/ports.js";
import { type Message, text } from "../../protocol/content.js";
import { createOfflineModel } from "./model.js";

const GREP: ToolSpec = {
  name: "grep",
  description: "",
  inputSchema: { type: "object", properties: { pattern: {}, mode: {}, multiline: {} } },
};

function request(messages: readonly Message[], more: Partial<ModelRequest> = {}): ModelRequest {
  return { model: "offline", system: "", messages, tools: [GREP], ...more };
}

function user(words: string): Message {
  return { role: "user", content: [text(words)] };
}

async function events(asked: ModelRequest, signal = new AbortController().signal): Promise<ModelEvent[]> {
  const model = createOfflineModel();
  const all: ModelEvent[] = [];
  for await (const batch of model.stream(asked, { model, signal })) all.push(...batch);
  return all;
}

describe("the offline model", () => {
  it("names itself", () => {
    expect(createOfflineModel()).toMatchObject({ provider: "offline", family: "offline", model: "offline" });
  });

  it("says that it cannot see", async () => {
    const image = { type: "image", media_type: "image/png", data: "AAAA" } as const;
    const all = await events(request([{ role: "user", content: [image, text("What is it?")] }]));
    expect(all).toMatchObject([{ type: "failure", failure: { reason: "ImageNotAccepted" } }]);
    const later = await events(request([{ role: "user", content: [image, text("What is it?")] }, user("help")]));
    expect(later.at(-1)).toMatchObject({ type: "stop" });
  });

  it("gives a line at a time where a person reads along, and stops when it is cancelled", async () => {
    const clock = new ManualClock();
    const abort = new AbortController();
    const model = createOfflineModel({ lineMs: 40, clock });
    const asked = request([user("help")]);
    const stream = model.stream(asked, { model, signal: abort.signal })[Symbol.asyncIterator]();
    expect((await stream.next()).value).toBeDefined();
    const second = stream.next();
    let isThere = false;
    void second.then(() => {
      isThere = true;
    });
    clock.advance(39);
    await new Promise(setImmediate);
    expect(isThere).toBe(false);
    clock.advance(1);
    expect((await second).value).toBeDefined();
    const third = stream.next();
    abort.abort();
    expect(await third).toEqual({ done: true, value: undefined });
  });

  it("answers in small pieces that make up the whole", async () => {
    const all = await events(request([user("help")]));
    const pieces = all.flatMap((event) => (event.type === "text" ? [event.text] : []));
    const block = all.find((event) => event.type === "block");
    expect(pieces.length).toBeGreaterThan(50);
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(80);
    expect(block).toEqual({ type: "block", block: text(pieces.join("")) });
    expect(all.at(-1)).toEqual({ type: "stop", reason: "end" });
    expect(all.at(-2)).toMatchObject({ type: "usage", usage: { cache_read: 0, reasoning: 0 } });
  });

  it("calls tools and reports them", async () => {
    const all = await events(request([user("which files mention sqlite")]));
    expect(all.map((event) => event.type)).toEqual(["block", "usage", "stop"]);
    expect(all[0]).toMatchObject({
      block: { type: "tool_call", tool: "grep", args: { pattern: "sqlite", mode: "files" } },
    });
    expect(all[2]).toEqual({ type: "stop", reason: "tool_calls" });
  });

  it("continues from the results in the messages alone", async () => {
    const ask = user("which files mention sqlite");
    const [first] = await events(request([ask]));
    if (first?.type !== "block" || first.block.type !== "tool_call") throw new Error("no call");
    const { tool, args } = first.block;
    const messages: Message[] = [
      ask,
      { role: "assistant", content: [{ type: "tool_use", call: "call_1", tool, args }] },
      {
        role: "user",
        content: [{ type: "tool_result", call: "call_1", tool, content: [text("a.ts\nb.ts")], is_error: false }],
      },
    ];
    const block = (await events(request(messages))).find((event) => event.type === "block");
    expect(block).toMatchObject({
      block: { text: expect.stringContaining("2 files in this project contain `sqlite`") },
    });
  });

  it("calls only what is offered", async () => {
    const all = await events(request([user("which files mention sqlite")], { tools: [] }));
    expect(all.at(-1)).toEqual({ type: "stop", reason: "end" });
    expect(JSON.stringify(all)).toContain("which is not offered in this run");
  });

  it("keeps to the output limit", async () => {
    const all = await events(request([user("help")], { maxOutputTokens: 10 }));
    expect(all.find((event) => event.type === "block")).toMatchObject({
      block: { text: expect.stringMatching(/^.{40}$/s) },
    });
    expect(all.at(-1)).toEqual({ type: "stop", reason: "length" });
  });

  it("stops when it is cancelled", async () => {
    const stop = new AbortController();
    stop.abort();
    expect(await events(request([user("help")]), stop.signal)).toEqual([]);
  });

  it("answers without any message", async () => {
    expect(JSON.stringify(await events(request([])))).toContain("It is not a language model");
  });
});
