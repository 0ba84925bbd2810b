import { spawn } from "node:child_process";
import { afterEach, describe, expect } from "vitest";
import { createServer, Harness, type HarnessTool, type ListeningServer } from "../../src/library/index.js";
import { type MockModel, type ReplyBuilder, reply, script, startMockModel } from "../../src/testkit/index.js";
import { skipWithout } from "../support/needs.js";
import { sampleKey } from "../support/program.js";
import { verifies } from "../verifies.js";
import { ask, type Reader, readEvents } from "./http.js";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const ADD: HarnessTool = {
  name: "add",
  description: "Adds two numbers.",
  inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
  execute: ({ a, b }: { a: number; b: number }) => String(a + b),
};

interface Served {
  readonly mock: MockModel;
  readonly harness: Harness;
  readonly server: ListeningServer;
  readonly auth: Record<string, string>;
  post(path: string, body?: string): Promise<{ readonly status: number; readonly json: unknown }>;
}

async function serve(...replies: readonly ReplyBuilder[]): Promise<Served> {
  const mock = await startMockModel({ script: script(replies) });
  const harness = new Harness({ apiKey: sampleKey(), baseUrl: mock.url }, [ADD]);
  const server = await createServer(harness).listen();
  closers.push(server.close, mock.close);
  const auth = { "x-oxbow-token": server.token ?? "" };
  return {
    mock,
    harness,
    server,
    auth,
    post: (path, body) =>
      ask(`${server.url}${path}`, { method: "POST", headers: auth, ...(body !== undefined && { body }) }),
  };
}

const isIdle = ({ events }: Pick<Reader, "events">) => events.at(-1)?.state === "idle";

describe("the server of a harness", () => {
  verifies(["C6"], "carries a turn with a tool, then another, to every reader", async () => {
    const { mock, server, auth, post } = await serve(
      reply().thinking("Sums.").text("Adding.").tool("add", { a: 2, b: 3 }).tool("add", { a: 1 }),
      reply().text("It is 5."),
      reply().text("Welcome."),
    );
    const readers = await Promise.all([
      readEvents(`${server.url}/events`, auth),
      readEvents(`${server.url}/events?token=${server.token}`),
    ]);
    expect((await post("/prompt", '{"content": "2 + 3?"}')).status).toBe(202);
    for (const reader of readers) await reader.until(isIdle);
    const timestamp = expect.any(Number);
    const id = expect.stringMatching(/^call_/);
    for (const { events } of readers) {
      expect(events).toEqual([
        { type: "user", content: "2 + 3?", timestamp },
        { type: "status", state: "thinking", message: "Waiting for claude-haiku-4-5." },
        { type: "reasoning", content: "Sums.", timestamp },
        { type: "text", content: "Adding.", timestamp },
        { type: "tool_call", id, name: "add", input: { a: 2, b: 3 }, timestamp },
        { type: "tool_call", id, name: "add", input: { a: 1 }, timestamp },
        { type: "status", state: "running tool", message: "Running add." },
        { type: "tool_result", id, result: "5", isError: false, timestamp },
        { type: "tool_result", id, result: 'Not run: "b" is missing (number).', isError: true, timestamp },
        { type: "status", state: "thinking", message: "Waiting for claude-haiku-4-5." },
        { type: "text", content: "It is 5.", timestamp },
        { type: "status", state: "idle", message: "Ready." },
      ]);
      expect(events[4]?.id).toBe(events[7]?.id);
      expect(events[5]?.id).toBe(events[8]?.id);
      expect(Math.abs(Number(events[0]?.timestamp) - Date.now() / 1000)).toBeLessThan(60);
    }
    expect((await post("/prompt", '{"content": "Thanks."}')).status).toBe(202);
    await readers[0]?.until(({ events }) => events.length > 12 && isIdle({ events }));
    expect(mock.failures).toEqual([]);
  });

  verifies(["C6"], "cancels, refuses a second prompt meanwhile, and continues", async () => {
    const { mock, harness, server, auth, post } = await serve(reply().text("Well …").hang(), reply().text("Yes."));
    const reader = await readEvents(`${server.url}/events`, auth);
    await post("/prompt", '{"content": "Think hard."}');
    await reader.until(({ events }) => events.some(({ type }) => type === "text"));
    expect((await post("/prompt", '{"content": "Hello?"}')).status).toBe(409);
    expect(await post("/cancel")).toMatchObject({ status: 202, json: { cancelling: true } });
    await reader.until(isIdle);
    expect(reader.events.at(-1)).toEqual({ type: "status", state: "idle", message: "Cancelled." });
    expect(await mock.requests[0]?.ended).toBe("broken");
    // Right after the idle status the harness is free.
    expect((await post("/prompt", '{"content": "Hello?"}')).status).toBe(202);
    await reader.until(({ events }) => events.at(-1)?.message === "Ready.");
    expect(harness.messages.at(-1)).toMatchObject({ content: [{ type: "text", text: "Yes." }] });
  });

  verifies(["C6"], "tells of a failure by the idle status, also when the program prompts by itself", async () => {
    const { harness, server, auth } = await serve(reply().error({ kind: "quota" }));
    const reader = await readEvents(`${server.url}/events`, auth);
    await expect(harness.prompt("Go.")).rejects.toThrow();
    await reader.until(isIdle);
    expect(reader.events.at(-1)?.message).toContain("no credit or quota");
  });

  verifies(["C6"], "is driven by curl through a turn with a tool and a cancel", async (context) => {
    skipWithout(context, "curl");
    const { mock, server } = await serve(
      reply().text("Adding.").tool("add", { a: 2, b: 3 }),
      reply().text("It is 5."),
      reply().text("Hm.").hang(),
    );
    const header = `X-Oxbow-Token: ${server.token}`;
    const reader = spawn("curl", ["-vsN", "-H", header, `${server.url}/events`], { stdio: ["ignore", "pipe", "pipe"] });
    const closed = new Promise((resolve) => reader.once("close", resolve));
    let text = "";
    let notice = () => {};
    for (const stream of [reader.stdout, reader.stderr]) {
      stream.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
        notice();
      });
    }
    const arrived = async (words: string) => {
      while (!text.includes(words)) {
        await new Promise<void>((resolve) => {
          notice = resolve;
        });
      }
    };
    const curl = (...args: readonly string[]) =>
      new Promise<string>((resolve) => {
        const child = spawn("curl", ["-s", "-w", " %{http_code}", "-H", header, ...args]);
        let output = "";
        child.stdout.on("data", (piece) => {
          output += piece;
        });
        child.on("close", () => resolve(output.replace("\n", "")));
      });
    // With the headers of the answer the stream is open.
    await arrived("< HTTP/1.1 200 OK");
    expect(await curl(`${server.url}/prompt`, "-d", '{"content": "2 + 3?"}')).toBe('{"accepted":true} 202');
    await arrived('"message":"Ready."');
    expect(text).toContain('"result":"5","isError":false');
    expect(text).toContain('"content":"It is 5."');
    expect(await curl(`${server.url}/prompt`, "-d", '{"content": "More."}')).toBe('{"accepted":true} 202');
    await arrived('"content":"Hm."');
    expect(await curl(`${server.url}/cancel`, "-X", "POST")).toBe('{"cancelling":true} 202');
    await arrived('"message":"Cancelled."');
    await server.close();
    await closed;
    expect(reader.exitCode).toBe(0);
    expect(mock.failures).toEqual([]);
  });
});
