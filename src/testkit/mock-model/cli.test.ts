import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { until } from "../../../test/support/waiting.js";
import { type MockModelFlags, runMockModelCommand } from "./cli.js";
import { askAnthropic, askOllama, askOpenai, probe } from "./http-probe.js";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mock-model-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(text: string): string {
  const path = join(folder, "script.mock");
  writeFileSync(path, text);
  return path;
}

/** Runs the command until it says its address, or to its end. */
async function run(flags: MockModelFlags) {
  const stop = new AbortController();
  let out = "";
  let err = "";
  let announce: (line: string) => void = () => {};
  const announced = new Promise<string>((resolve) => {
    announce = resolve;
  });
  const code = runMockModelCommand(flags, {
    signal: stop.signal,
    stdout: {
      write: (text: string) => {
        out += text;
        announce(text);
      },
    },
    stderr: {
      write: (text: string) => {
        err += text;
      },
    },
  });
  await Promise.race([announced, code]);
  const url = /at (\S+)/.exec(out)?.[1] ?? "";
  return {
    url,
    out: () => out,
    err: () => err,
    end: () => {
      stop.abort();
      return code;
    },
  };
}

describe("oxbow mock-model", () => {
  it("says in one line where it is and what to set, then a line for each request", async () => {
    const command = await run({ script: file("reply\n  text: hi\nreply\n  text: ho") });
    const { url } = command;
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(command.out()).toBe(
      `mock model at ${url}  ANTHROPIC_BASE_URL=${url} OPENAI_BASE_URL=${url}/v1 GOOGLE_GEMINI_BASE_URL=${url} OLLAMA_HOST=${url}\n`,
    );
    await askAnthropic(url);
    await askOpenai(url, {
      messages: [
        { role: "user", content: "a" },
        { role: "user", content: "b" },
      ],
    });
    await askOllama(url, { model: "nobody" });
    await askOllama(url);
    await probe(`${url}/api/tags`);
    expect(command.err().split("\n")).toEqual([
      "anthropic POST /v1/messages mock-model, 1 message: reply 1 (line 1)",
      "openai POST /v1/chat/completions mock-model, 2 messages: reply 2 (line 3)",
      `ollama POST /api/chat nobody, 1 message: refused with 404: {"error":"model 'nobody' not found"}`,
      "ollama POST /api/chat mock-model, 1 message: the script has ended",
      "ollama GET /api/tags: 200",
      "",
    ]);
    expect(await command.end()).toBe(0);
    await expect(probe(url)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  it("ends at once when it is stopped in the middle of an answer", async () => {
    const command = await run({ script: file("reply\n  hang") });
    const answer = expect(askOllama(command.url)).rejects.toMatchObject({ code: "ECONNRESET" });
    await until(() => command.err().includes("reply 1"));
    expect(await command.end()).toBe(0);
    await answer;
  });

  it("records requests without keys", async () => {
    const record = join(folder, "requests.jsonl");
    const key = ["not", "a", "real", "key"].join("-");
    const command = await run({ script: file("reply\n  text: hi"), record, key });
    await askOpenai(command.url, {}, { headers: { authorization: `Bearer ${key}` } });
    await askOpenai(command.url, {}, { headers: { authorization: "Bearer other" } });
    await command.end();
    const text = readFileSync(record, "utf8");
    expect(text).not.toContain(key);
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { number: 1, wire: "openai", path: "/v1/chat/completions", messages: 1, answered: { by: "reply", reply: 1 } },
      { number: 2, answered: { by: "refusal", status: 401 } },
    ]);
    expect(lines[0].body.messages[0].role).toBe("user");
  });

  it("fails when an expectation failed", async () => {
    const command = await run({ script: file('reply\n  expect "weather"\n  text: hi') });
    await askOllama(command.url);
    expect(await command.end()).toBe(1);
    expect(command.err()).toContain('expected last-user contains "weather", but it is "What is in the file?"');
    expect(command.err()).toContain("1 expectation of the script failed.");
  });

  it("listens on the given port, and reports when it cannot", async () => {
    const script = file("reply\n  text: hi");
    const first = await run({ script });
    const port = new URL(first.url).port;
    const second = await run({ script, port });
    expect(await second.end()).toBe(1);
    expect(second.err()).toContain(`cannot listen on port ${port}: `);
    await first.end();
    const third = await run({ script, port });
    expect(third.url).toBe(first.url);
    await third.end();
  });

  it.each<[MockModelFlags, string]>([
    [{}, "--script FILE is missing."],
    [{ port: "1" }, "--script FILE is missing."],
    [{ script: "x", port: "many" }, "--port needs a number from 0 to 65535, not 'many'."],
    [{ script: "x", port: "65536" }, "--port needs a number"],
    [{ script: "/nowhere/x.mock" }, "cannot read the script: ENOENT"],
  ])("refuses %j", async (flags, message) => {
    const command = await run(flags);
    expect(await command.end()).toBe(2);
    expect(command.err()).toContain(`oxbow mock-model: ${message}`);
    expect(command.out()).toBe("");
  });

  it("names the file and the line of a mistake in the script", async () => {
    const path = file("reply\n  text: a\n  stop soon");
    const command = await run({ script: path });
    expect(await command.end()).toBe(2);
    expect(command.err()).toContain(`oxbow mock-model: ${path}, line 3: expected end, tool, length`);
  });
});
