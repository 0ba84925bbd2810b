import { afterEach, describe, expect, it } from "vitest";
import { until } from "../../../test/support/waiting.js";
import { ManualClock } from "../../base/clock.js";
import { askAnthropic, askOllama, askOpenai, jsonLines, type ProbeAnswer, probe, sseEvents } from "./http-probe.js";
import { reply, script } from "./script/builder.js";
import { SCRIPT_ENDED } from "./script/script.js";
import { type MockModel, type MockModelOptions, startMockModel } from "./server.js";

const running: MockModel[] = [];

async function start(script: MockModelOptions["script"], options: Partial<MockModelOptions> = {}): Promise<MockModel> {
  const mock = await startMockModel({ script, ...options });
  running.push(mock);
  return mock;
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((mock) => mock.close()));
});

const WIRES = { anthropic: askAnthropic, openai: askOpenai, ollama: askOllama };
const EVERY_WIRE = Object.keys(WIRES) as (keyof typeof WIRES)[];

/** Tells what a client would show, whatever the wire. */
function textOf(answer: ProbeAnswer): string {
  const frames = answer.text.startsWith("{") ? jsonLines(answer.text) : sseEvents(answer.text).map(({ data }) => data);
  return (frames as Frame[])
    .map((frame) => frame.delta?.text ?? frame.choices?.[0]?.delta?.content ?? frame.message?.content ?? "")
    .filter((text) => typeof text === "string")
    .join("");
}

interface Frame {
  readonly delta?: { readonly text?: string };
  readonly choices?: readonly { readonly delta?: { readonly content?: string } }[];
  readonly message?: { readonly content?: unknown };
}

describe.each(EVERY_WIRE)("the %s wire", (wire) => {
  const ask = WIRES[wire];

  it("answers call by call and says when the script has ended", async () => {
    const { url } = await start("reply\n  text: one\nreply\n  text: two");
    expect(textOf(await ask(url))).toBe("one");
    expect(textOf(await ask(url))).toBe("two");
    expect(textOf(await ask(url))).toBe(SCRIPT_ENDED);
  });

  it("starts over with `loop`", async () => {
    const { url } = await start("reply\n  text: one\nreply\n  text: two\nloop");
    const said: string[] = [];
    for (let i = 0; i < 5; i++) said.push(textOf(await ask(url)));
    expect(said).toEqual(["one", "two", "one", "two", "one"]);
  });

  it("prefers a reply whose condition holds, once", async () => {
    const { url } = await start('reply\n  text: other\nreply when "file"\n  text: the file');
    expect(textOf(await ask(url))).toBe("the file");
    expect(textOf(await ask(url))).toBe("other");
  });

  it("answers an HTTP error with its status, its wait and its message", async () => {
    const { url } = await start('reply\n  error 529 overloaded "Too much" retry-after=2');
    const answer = await ask(url);
    expect(answer.status).toBe(529);
    expect(answer.headers["retry-after"]).toBe("2");
    expect(answer.text).toContain("Too much");
  });

  it("breaks the connection in the middle of the answer, after the text so far", async () => {
    const mock = await start("reply\n  text: half an answer\n  drop");
    const answer = await ask(mock.url);
    expect(answer.status).toBe(200);
    expect(textOf(answer)).toBe("half an answer");
    expect(answer.broken).toBeDefined();
    expect(await mock.requests[0]?.ended).toBe("broken");
  });

  it.each(["drop", "drop reset"])("breaks the connection before the headers: %s", async (statement) => {
    const { url } = await start(`reply\n  ${statement}`);
    await expect(ask(url)).rejects.toMatchObject({ code: "ECONNRESET" });
  });

  it("ends the response in order but unfinished on cut", async () => {
    const { url } = await start("reply\n  text: half\n  cut");
    const answer = await ask(url);
    expect(answer.broken).toBeUndefined();
    expect(textOf(answer)).toBe("half");
    expect(answer.text).not.toMatch(/message_stop|\[DONE\]|"done":true/);
  });

  it("sends an error in the stream if text came before", async () => {
    const { url } = await start('reply\n  text: half\n  error overloaded "Sorry"');
    const answer = await ask(url);
    expect(answer.status).toBe(200);
    expect(textOf(answer)).toBe("half");
    expect(answer.text.trimEnd().split("\n").at(-1)).toMatch(/"error".*Sorry/);
  });

  it("sends nothing more on hang, and notices that the client leaves", async () => {
    const mock = await start("reply\n  text: thinking about it\n  hang");
    const leave = new AbortController();
    const answer = ask(mock.url, {}, { signal: leave.signal, onPiece: (text) => text.includes("it") && leave.abort() });
    await expect(answer).rejects.toMatchObject({ name: "AbortError" });
    expect(await mock.requests[0]?.ended).toBe("broken");
  });

  it("answers HTML with 200, as a wrong address does", async () => {
    const { url } = await start("reply\n  html");
    const answer = await ask(url);
    expect(answer.status).toBe(200);
    expect(answer.headers["content-type"]).toContain("text/html");
    expect(answer.text).toMatch(/^<!doctype html>/);
  });

  it("sends lines that make no sense", async () => {
    const { url } = await start('reply\n  garbage\n  event mystery {"a": 1}\n  text: fine');
    const answer = await ask(url);
    expect(answer.text).toContain("{not json");
    expect(answer.text).toContain('{"a": 1}');
    expect(textOf(answer)).toBe("fine");
  });

  it("writes every byte where a split wants it", async () => {
    const { url } = await start("reply\n  text: äöü → 日本\n  split 3");
    const answer = await ask(url);
    expect(textOf(answer)).toBe("äöü → 日本");
    expect(answer.pieces.length).toBeGreaterThan(answer.text.length / 3);
    expect(Math.max(...answer.pieces.map((piece) => piece.length))).toBeLessThanOrEqual(3);
  });

  it("cuts at random, alike for the same seed", async () => {
    const { url } = await start("reply times=2\n  text: the same words for both of them\n  split random 7");
    const sizes = async () => (await ask(url)).pieces.map((piece) => piece.length);
    const first = await sizes();
    expect(new Set(first).size).toBeGreaterThan(2);
    expect((await sizes()).slice(0, 20)).toEqual(first.slice(0, 20));
  });

  it("writes each delta by itself on flush, and few times otherwise", async () => {
    const words = Array.from({ length: 50 }, (_, i) => `w${i}`).join(" ");
    const { url } = await start(script([reply().text(words).flushEachDelta(), reply().text(words)]));
    expect((await ask(url)).pieces.length).toBeGreaterThanOrEqual(50);
    expect((await ask(url)).pieces.length).toBeLessThan(5);
  });

  it("waits on the clock it was given", async () => {
    const clock = new ManualClock();
    const mock = await start("reply\n  delay 10s\n  text every=1s: one two\n  delay 5s", { clock });
    let seen = "";
    const answer = ask(
      mock.url,
      {},
      {
        onPiece: (text) => {
          seen += text;
        },
      },
    );
    await mock.waitForRequest(1);
    const step = async (ms: number) => {
      await until(() => clock.pending > 0);
      clock.advance(ms);
    };
    expect(seen).toBe("");
    await step(10_000);
    await until(() => seen.includes("one"));
    expect(seen).not.toContain("two");
    await step(1000);
    await until(() => seen.includes("two"));
    await step(1000);
    await step(5000);
    expect(textOf(await answer)).toBe("one two");
  });

  it("streams twenty thousand deltas", async () => {
    const { url } = await start("reply\n  text repeat=20000: x ");
    const answer = await ask(url);
    expect(textOf(answer)).toBe("x ".repeat(20_000));
    expect(answer.text.match(/"x "/g)).toHaveLength(20_000);
  });

  it("serves several calls at the same time", async () => {
    const clock = new ManualClock();
    const mock = await start("reply\n  delay 1s\n  text: slow\nreply\n  text: fast", { clock });
    const slow = ask(mock.url);
    await mock.waitForRequest(1);
    expect(textOf(await ask(mock.url))).toBe("fast");
    clock.advance(1000);
    expect(textOf(await slow)).toBe("slow");
  });

  it("adds the script's headers", async () => {
    const { url } = await start(
      "reply\n  header X-Remaining: 7\n  text: hi\nreply\n  header X-Remaining: 0\n  error rate-limit",
    );
    expect((await ask(url)).headers["x-remaining"]).toBe("7");
    const refused = await ask(url);
    expect([refused.status, refused.headers["x-remaining"]]).toEqual([429, "0"]);
  });

  it("fails a request that is not what the script expects, again and again", async () => {
    const mock = await start('reply\n  expect last-user contains "weather"\n  text: sunny\nreply\n  text: next');
    for (let i = 1; i <= 2; i++) {
      const answer = await ask(mock.url);
      expect(answer.status).toBe(500);
      expect(answer.headers["x-should-retry"]).toBe("false");
      expect(answer.text).toContain("expected last-user contains");
      expect(mock.failures[i - 1]).toMatchObject({ request: i, kind: "expectation", reply: 1 });
      expect(mock.failures[i - 1]?.message).toContain('it is "What is in the file?" (line 2 of the script)');
    }
    const good = await ask(mock.url, { messages: [{ role: "user", content: "the weather?" }] });
    expect(textOf(good)).toBe("sunny");
    expect(mock.unusedReplies).toBe(1);
  });

  it("sends half of an answer without a stream", async () => {
    const { url } = await start(
      "reply\n  text: a long enough answer\n  drop\nreply\n  text: a long enough answer\n  cut",
    );
    const dropped = await ask(url, { stream: false });
    expect(dropped.broken).toBeDefined();
    const cut = await ask(url, { stream: false });
    expect(cut.broken).toBeUndefined();
    for (const { text } of [dropped, cut]) {
      expect(text).toMatch(/^\{"/);
      expect(() => JSON.parse(text)).toThrow();
    }
  });
});

describe("the record", () => {
  it("records the requests, without the key", async () => {
    const clock = new ManualClock(1000);
    const mock = await start("reply times=any\n  text: hi", { clock });
    await askAnthropic(mock.url);
    await askOpenai(mock.url, { model: "gpt" }, { headers: { authorization: "Bearer abc" } });
    await askOllama(mock.url);
    expect(mock.requests.map(({ wire, path, messages, model }) => ({ wire, path, messages, model }))).toEqual([
      { wire: "anthropic", path: "/v1/messages", messages: 1, model: "mock-model" },
      { wire: "openai", path: "/v1/chat/completions", messages: 1, model: "gpt" },
      { wire: "ollama", path: "/api/chat", messages: 1, model: "mock-model" },
    ]);
    expect(mock.requests[0]).toMatchObject({ at: 1000, number: 1, answered: { by: "reply", reply: 1, line: 1 } });
    expect(mock.requests[0]?.headers["x-api-key"]).toBe("[redacted]");
    expect(mock.requests[1]?.headers.authorization).toBe("Bearer [redacted]");
    expect(mock.requests[0]?.body).toMatchObject({ max_tokens: 100 });
    expect(await mock.requests[2]?.ended).toBe("complete");
  });

  it("keeps lookups apart", async () => {
    const mock = await start("reply\n  text: hi");
    await probe(`${mock.url}/api/tags`);
    await probe(`${mock.url}/nowhere`);
    await askOllama(mock.url, { messages: [] });
    expect(mock.requests).toHaveLength(0);
    expect(mock.lookups.map(({ path }) => path)).toEqual(["/api/tags", "/nowhere", "/api/chat"]);
  });

  it("returns the n-th request when it comes, and rejects if it never does", async () => {
    const mock = await start("reply times=any\n  text: hi");
    const second = mock.waitForRequest(2);
    const third = mock.waitForRequest(3);
    await askOllama(mock.url);
    await askOpenai(mock.url);
    expect(await second).toMatchObject({ wire: "openai", number: 2 });
    expect(await mock.waitForRequest(1)).toMatchObject({ wire: "ollama" });
    await Promise.all([expect(third).rejects.toThrow("before request 3 came; it got 2 requests"), mock.close()]);
  });

  it("notifies its owner of each request before it answers", async () => {
    const seen: string[] = [];
    const mock = await start("reply\n  text: hi", { onRequest: ({ path }) => seen.push(path) });
    await askOpenai(mock.url);
    await probe(`${mock.url}/api/version`);
    expect(seen).toEqual(["/v1/chat/completions", "/api/version"]);
  });
});

describe("the server", () => {
  it("refuses to start with a script it does not understand", async () => {
    await expect(start("reply\n  txet: hi")).rejects.toThrow(/^line 2: expected text, /);
  });

  it("refuses to start on a port that is taken", async () => {
    const first = await start("reply\n  text: hi");
    await expect(start("reply\n  text: hi", { port: first.port })).rejects.toMatchObject({ code: "EADDRINUSE" });
  });

  it("closes while an answer hangs, and twice without harm", async () => {
    const mock = await start("reply\n  hang");
    const answer = askOllama(mock.url);
    await mock.waitForRequest(1);
    await Promise.all([mock.close(), mock.close()]);
    await expect(answer).rejects.toMatchObject({ code: "ECONNRESET" });
  });

  it("makes the same ids from the same seed, and others otherwise", async () => {
    const id = async (seed?: number) => {
      const mock = await start("reply\n  text: hi", seed === undefined ? {} : { seed });
      return sseEvents((await askAnthropic(mock.url)).text)[0]?.data;
    };
    const [one, same, other] = [await id(1), await id(1), await id()];
    expect(one).toEqual(same);
    expect(one).not.toEqual(other);
  });

  it("tells of a mistake in a script made in code", async () => {
    const { url } = await start(script([reply().when("lastuser", { exists: true }).text("hi")]));
    const answer = await askOpenai(url);
    expect(answer.status).toBe(500);
    expect(answer.text).toContain('"lastuser", which is not a subject');
  });

  it("refuses what is larger than the services take", async () => {
    const { url } = await start("reply\n  text: hi");
    const answer = await askAnthropic(url, { system: "x".repeat(33 * 1024 * 1024) });
    expect(answer.status).toBe(413);
    expect(answer.text).toContain("request_too_large");
  });
});
