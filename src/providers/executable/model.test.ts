import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { needs } from "../../../test/support/needs.js";
import { survivors } from "../../../test/support/survivors.js";
import { ManualClock } from "../../base/clock.js";
import type { ModelEvent, ModelRequest } from "../../engine/ports.js";
import type { Message } from "../../protocol/content.js";
import { startMockModel } from "../../testkit/index.js";
import { anthropic } from "../wire/anthropic.js";
import type { Wire } from "../wire/wire.js";
import { createExecutableModel, type ExecutableModelOptions } from "./model.js";

let folder: string;
let programs = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "executable-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const PATH = process.env.PATH ?? "";
const REQUEST: ModelRequest = {
  model: "given elsewhere",
  system: "Be brief.",
  messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
  tools: [{ name: "read", description: "Reads.", inputSchema: { type: "object" } }],
  maxOutputTokens: 100,
};

async function program(script: string): Promise<string> {
  const path = join(folder, `provider-${++programs}`);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

async function ask(
  path: string,
  options: Partial<ExecutableModelOptions> & { request?: ModelRequest; signal?: AbortSignal } = {},
): Promise<readonly ModelEvent[]> {
  const { request = REQUEST, signal = new AbortController().signal, ...rest } = options;
  const model = createExecutableModel({ provider: "own", path, model: "m", cwd: folder, env: { PATH }, ...rest });
  const events: ModelEvent[] = [];
  for await (const batch of model.stream(request, { model, signal })) events.push(...batch);
  return events;
}

const said = (events: readonly ModelEvent[]) =>
  events.map((event) => (event.type === "text" ? event.text : "")).join("");
const failureOf = (events: readonly ModelEvent[]) => {
  const last = events.at(-1);
  return last?.type === "failure" ? last.failure : undefined;
};

describe("[M2] an executable provider", () => {
  it("gets the request on its stdin and --stream as its argument", async () => {
    const path = await program(`
      payload=$(cat)
      printf '{"type":"text","text":"%s"}\\n' "$*"
      printf '%s' "$payload" > ${folder}/payload.json`);
    expect(said(await ask(path))).toBe("--stream");
    const { default: payload } = await import(join(folder, "payload.json"), { with: { type: "json" } });
    expect(payload).toEqual({
      protocol: 1,
      model: "m",
      system: "Be brief.",
      messages: REQUEST.messages,
      tools: [{ name: "read", description: "Reads.", input_schema: { type: "object" } }],
      max_output_tokens: 100,
    });
  });

  it("streams lines of JSON: text, thinking, calls, usage and the reason to stop", async () => {
    const path = await program(`cat > /dev/null; cat <<'LINES'
{"type":"thinking","text":"Hm"}
{"type":"thinking","text":".","opaque":{"seal":1}}
{"type":"text","text":"I will"}
{"type":"text","text":" look."}

{"type":"tool_call","tool":"read","args":{"path":"a"}}
{"type":"tool_call","tool":"read","args":"{\\"path\\": \\"b"}
{"type":"news","of":"a later version"}
{"type":"usage","input":3,"output":4,"reasoning":1}
{"type":"stop","reason":"length"}
LINES`);
    expect(await ask(path)).toEqual([
      { type: "thinking", text: "Hm" },
      { type: "thinking", text: "." },
      { type: "block", block: { type: "thinking", text: "Hm.", provider: "own", opaque: { seal: 1 } } },
      { type: "text", text: "I will" },
      { type: "text", text: " look." },
      { type: "block", block: { type: "text", text: "I will look." } },
      { type: "block", block: { type: "tool_call", tool: "read", args: { path: "a" } } },
      { type: "block", block: { type: "tool_call", tool: "read", args: {}, malformed: '{"path": "b' } },
      { type: "usage", usage: { input: 3, output: 4, cache_read: 0, cache_write: 0, reasoning: 1 } },
      { type: "stop", reason: "length" },
    ]);
  });

  it("may answer in one piece, over several lines or without a stream", async () => {
    const path = await program(`cat > /dev/null
      [ $# -gt 0 ] && echo "no flags here: $*" >&2 && exit 2
      printf '{\\n  "content": [{"type": "text", "text": "Hi."},\\n  {"type": "tool_call", "tool": "read"}],\\n  "usage": {"output": 2}\\n}'`);
    expect(await ask(path, { streaming: "never" })).toEqual([
      { type: "text", text: "Hi." },
      { type: "block", block: { type: "text", text: "Hi." } },
      { type: "block", block: { type: "tool_call", tool: "read", args: {} } },
      { type: "usage", usage: { input: 0, output: 2, cache_read: 0, cache_write: 0, reasoning: 0 } },
      { type: "stop", reason: "tool_calls" },
    ]);
    expect(failureOf(await ask(path))?.message).toBe("own failed: it exited with code 2: no flags here: --stream");
  });

  it("may answer with plain text, shown as it is written", async () => {
    const path = await program(`cat > /dev/null; printf 'Grüße, '; printf 'my\\n\\n friend.\\n\\n'`);
    const events = await ask(path);
    expect(said(events)).toBe("Grüße, my\n\n friend.");
    expect(events.slice(-2)).toEqual([
      { type: "block", block: { type: "text", text: "Grüße, my\n\n friend." } },
      { type: "stop", reason: "end" },
    ]);
  });

  it("needs no end that it tells itself when it exits well, and is believed when it tells one", async () => {
    const quiet = await program(`cat > /dev/null; echo '{"type":"tool_call","tool":"read","args":{}}'`);
    expect((await ask(quiet)).at(-1)).toEqual({ type: "stop", reason: "tool_calls" });
    const lasting = await program(`cat > /dev/null; echo '{"type":"stop"}'; sleep 600; exit 3`);
    expect(await ask(lasting)).toEqual([{ type: "stop", reason: "end" }]);
  });

  it.each<[string, string, string, boolean | undefined]>([
    ["a bad exit", "echo 'no such model' >&2; exit 4", "it exited with code 4: no such model", undefined],
    ["a wish to wait", "exit 75", "it asks to try again later", true],
    ["an end by a signal", "kill -9 $$", "it was ended by SIGKILL", undefined],
    ["silence", "exit 0", "it ended without an answer", undefined],
    ["nonsense", "echo '{\"a\":1}'", 'it wrote JSON with neither "type", "content" nor "error"', undefined],
    ["half a line", 'echo \'{"type":"text"}\'; printf \'{"type":\'', "it wrote a line that is not JSON", undefined],
  ])("fails with %s", async (_, script, detail, retryable) => {
    const failure = failureOf(await ask(await program(`cat > /dev/null\n${script}`)));
    expect(failure?.message).toBe(`own failed: ${detail}`);
    expect(failure?.retryable).toBe(retryable);
  });

  it("keeps the text from before the failure", async () => {
    const events = await ask(await program(`cat > /dev/null; echo '{"type":"text","text":"Half"}'; exit 1`));
    expect(events[0]).toEqual({ type: "text", text: "Half" });
    expect(failureOf(events)?.reason).toBe("ProviderFailed");
  });

  it.each<[string, object]>([
    [
      '{"type":"error","status":429,"message":"slow down","retry_after_ms":1500}',
      { reason: "RateLimited", retry_after_ms: 1500, retryable: true },
    ],
    ['{"error":{"reason":"ContextTooLong","message":"too much"}}', { reason: "ContextTooLong", message: "too much" }],
    ['{"type":"error","code":"invalid_api_key","message":"no"}', { reason: "AuthFailed" }],
    ['{"type":"error","message":"gone","retryable":false}', { reason: "ProviderFailed", retryable: false }],
  ])("reports an error of its own: %s", async (line, failure) => {
    expect(failureOf(await ask(await program(`cat > /dev/null; echo '${line}'`)))).toMatchObject(failure);
  });

  it("says why a program cannot be started", async () => {
    const message = failureOf(await ask(join(folder, "not-there")))?.message;
    expect(message).toContain("own failed: The program");
    expect(message).toContain("was not found");
  });

  it("is stopped with everything it started when the stream is cancelled", async () => {
    const path = await program(`cat > /dev/null; sleep 86471 & echo '{"type":"text","text":"a"}'; wait`);
    const abort = new AbortController();
    const model = createExecutableModel({ provider: "own", path, model: "m", cwd: folder, env: { PATH } });
    const events: ModelEvent[] = [];
    for await (const batch of model.stream(REQUEST, { model, signal: abort.signal })) {
      events.push(...batch);
      abort.abort();
    }
    expect(events).toEqual([{ type: "text", text: "a" }]);
    expect(survivors("sleep 86471")).toEqual([]);
  });

  it("is stopped with everything it started when the reader stops", async () => {
    const path = await program(`cat > /dev/null; sleep 86472 & echo '{"type":"text","text":"a"}'; wait`);
    const model = createExecutableModel({ provider: "own", path, model: "m", cwd: folder, env: { PATH } });
    for await (const batch of model.stream(REQUEST, { model, signal: new AbortController().signal })) {
      expect(batch).toEqual([{ type: "text", text: "a" }]);
      break;
    }
    expect(survivors("sleep 86472")).toEqual([]);
  });

  it("is stopped when it is silent for too long", async () => {
    const clock = new ManualClock();
    const path = await program(`cat > /dev/null; echo thinking >&2; echo '{"type":"text","text":"a"}'; sleep 600`);
    const model = createExecutableModel({
      provider: "own",
      path,
      model: "m",
      cwd: folder,
      env: { PATH },
      clock,
      idleMs: 60_000,
    });
    const events: ModelEvent[] = [];
    // The clock stands still until the first words are there, and then runs until the program is gone.
    let timer: NodeJS.Timeout | undefined;
    for await (const batch of model.stream(REQUEST, { model, signal: new AbortController().signal })) {
      events.push(...batch);
      timer ??= setInterval(() => clock.advance(30_000), 1);
    }
    clearInterval(timer);
    expect(failureOf(events)).toMatchObject({
      message: "own failed: it sent no output for 1m, so Oxbow stopped it: thinking",
      retryable: true,
    });
  });

  it("gets thinking of its own family only, and in order", async () => {
    const path = await program(`printf '{"content":"'; cat | base64 | tr -d '\\n'; printf '"}'`);
    const messages: readonly Message[] = [
      { role: "user", content: [{ type: "text", text: "a" }] },
      {
        role: "assistant",
        content: [
          { type: "thinking", text: "mine", provider: "own", opaque: 1 },
          { type: "thinking", text: "theirs", provider: "other" },
          { type: "tool_use", call: "call_1", tool: "read", args: {} },
        ],
      },
    ];
    const sent = JSON.parse(
      Buffer.from(said(await ask(path, { request: { ...REQUEST, messages } })), "base64").toString(),
    );
    expect(sent.messages[1].content).toEqual([
      { type: "thinking", text: "mine", provider: "own", opaque: 1 },
      { type: "tool_use", call: "call_1", tool: "read", args: {} },
    ]);
    expect(sent.messages[2].content).toMatchObject([{ type: "tool_result", call: "call_1", is_error: true }]);
  });
});

needs("curl").describe("[M2] an executable provider that speaks another protocol", () => {
  const CURL = fileURLToPath(new URL("../../../examples/providers/claude-curl", import.meta.url));
  const wire = anthropic as Wire<unknown>;

  it("passes on a service's own stream", async () => {
    const mock = await startMockModel({ script: "reply\n  thinking: Hm.\n  text: Hello.", key: "right" });
    const env = { PATH, ANTHROPIC_BASE_URL: mock.url, ANTHROPIC_API_KEY: "right" };
    const events = await ask(CURL, { wire, env, family: "anthropic" });
    await mock.close();
    expect(mock.failures).toEqual([]);
    expect(said(events)).toBe("Hello.");
    expect(events.at(-1)).toEqual({ type: "stop", reason: "end" });
    expect(mock.requests[0]?.body).toMatchObject({ stream: true, max_tokens: 100 });
  });

  it("passes on the service's error", async () => {
    const mock = await startMockModel({ script: "reply\n  text: Hello.", key: "right" });
    const env = { PATH, ANTHROPIC_BASE_URL: mock.url, ANTHROPIC_API_KEY: "wrong" };
    expect(failureOf(await ask(CURL, { wire, env }))).toMatchObject({ reason: "AuthFailed" });
    await mock.close();
    const gone = failureOf(await ask(CURL, { wire, env }));
    expect(gone?.message).toMatch(/^own failed: it exited with code \d+: curl:/);
  });
});
