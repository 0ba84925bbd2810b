import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { askAnthropic, askOllama, askOpenai, type ProbeAnswer } from "./http-probe.js";
import { parseScript } from "./script/parse.js";
import { ACTION_READERS, SETTING_READERS } from "./script/reply-syntax.js";
import { ERROR_KINDS, STOP_REASONS, SUBJECTS } from "./script/script.js";
import { startMockModel } from "./server.js";

const examples = new URL("../../../examples/mock-model/", import.meta.url);
const guide = readFileSync(new URL("../../../docs/testing.md", import.meta.url), "utf8");

function example(name: string): string {
  return readFileSync(new URL(name, examples), "utf8");
}

describe("the guide", () => {
  const blocks = [...guide.matchAll(/```mock\n(.*?)```/gs)].map((match) => match[1] as string);

  it.each(blocks.map((block) => [block]))("shows a script that is understood and played:\n%s", async (block) => {
    const mock = await startMockModel({ script: block });
    const tools = [{ type: "function", function: { name: "read" } }];
    const model = parseScript(block).models?.[1]?.name ?? "mock-model";
    for (const _ of parseScript(block).replies) {
      const fields = { model, tools, messages: [{ role: "user", content: "The weather in README.md?" }] };
      await askOpenai(mock.url, fields).catch((error: NodeJS.ErrnoException) => expect(error.code).toBe("ECONNRESET"));
    }
    expect(mock.requests.length).toBeGreaterThan(0);
    expect(mock.failures.filter(({ kind }) => kind === "refused")).toEqual([]);
    await mock.close();
  });

  it("tells of every statement, subject, error and stop reason", () => {
    const words = [
      ...Object.keys(ACTION_READERS),
      ...Object.keys(SETTING_READERS),
      ...SUBJECTS,
      ...ERROR_KINDS,
      ...STOP_REASONS,
    ];
    expect(words.filter((word) => !new RegExp(`\`${word}\\b`).test(guide))).toEqual([]);
  });
});

/* ---- a harness in a few lines, in each wire ---- */

interface Call {
  readonly id: string;
  readonly name: string;
  readonly args: object;
}

interface Dialect {
  ask(url: string, messages: readonly object[]): Promise<ProbeAnswer>;
  /** The message to keep, and the calls in it. */
  read(text: string): { readonly message: object; readonly calls: readonly Call[]; readonly text: string };
  results(calls: readonly Call[], run: (call: Call) => string): readonly object[];
}

const DIALECTS: Readonly<Record<string, Dialect>> = {
  anthropic: {
    ask: (url, messages) => askAnthropic(url, { stream: false, messages }),
    read(text) {
      const { content } = JSON.parse(text);
      const blocks = content as { type: string; id: string; name: string; input: object; text: string }[];
      return {
        message: { role: "assistant", content },
        calls: blocks.flatMap(({ type, id, name, input }) => (type === "tool_use" ? [{ id, name, args: input }] : [])),
        text: blocks.map((block) => block.text ?? "").join(""),
      };
    },
    results: (calls, run) => [
      {
        role: "user",
        content: calls.map((call) => ({ type: "tool_result", tool_use_id: call.id, content: run(call) })),
      },
    ],
  },
  openai: {
    ask: (url, messages) => askOpenai(url, { stream: false, messages }),
    read(text) {
      const { message } = JSON.parse(text).choices[0];
      const calls = (message.tool_calls ?? []) as { id: string; function: { name: string; arguments: string } }[];
      return {
        message,
        calls: calls.map(({ id, function: f }) => ({ id, name: f.name, args: JSON.parse(f.arguments) })),
        text: message.content ?? "",
      };
    },
    results: (calls, run) => calls.map((call) => ({ role: "tool", tool_call_id: call.id, content: run(call) })),
  },
  ollama: {
    ask: (url, messages) => askOllama(url, { stream: false, messages }),
    read(text) {
      const { message } = JSON.parse(text);
      const calls = (message.tool_calls ?? []) as { id: string; function: { name: string; arguments: object } }[];
      return {
        message,
        calls: calls.map(({ id, function: f }) => ({ id, name: f.name, args: f.arguments })),
        text: message.content,
      };
    },
    results: (calls, run) => calls.map((call) => ({ role: "tool", tool_name: call.name, content: run(call) })),
  },
};

/** Asks until the model calls no more tools; every attempt that fails is made again. */
async function runTurn(url: string, { ask, read, results }: Dialect) {
  const messages: object[] = [{ role: "user", content: "What is here?" }];
  let attempts = 0;
  for (;;) {
    attempts++;
    const answer = await ask(url, messages).catch(() => undefined);
    if (answer?.status !== 200 || answer.broken !== undefined) continue;
    const said = read(answer.text);
    if (said.calls.length === 0) return { text: said.text, attempts };
    const given = results(said.calls, (call) => `result of ${call.name} ${JSON.stringify(call.args)}`);
    messages.push(said.message, ...given);
  }
}

describe.each(Object.entries(DIALECTS))("the examples, by a small harness over %s", (_, dialect) => {
  it("play a turn with tools", async () => {
    const mock = await startMockModel({ script: example("tool-loop.mock") });
    const { text, attempts } = await runTurn(mock.url, dialect);
    expect(text).toBe("This is what I found:\n\n- a README\n- a package");
    expect(attempts).toBe(3);
    expect(mock.requests.map(({ messages }) => messages)).toEqual(
      mock.requests[0]?.wire === "anthropic" ? [1, 3, 5] : [1, 3, 6],
    );
    expect(mock.failures).toEqual([]);
    expect(mock.unusedReplies).toBe(0);
    await mock.close();
  });

  it("get through a bad day", async () => {
    const mock = await startMockModel({ script: example("bad-day.mock") });
    expect(await runTurn(mock.url, dialect)).toEqual({ text: "Here I am at last.", attempts: 7 });
    expect(mock.unusedReplies).toBe(0);
    await mock.close();
  });

  it("serve several askers", async () => {
    const mock = await startMockModel({ script: example("several-askers.mock") });
    const ask = async (content: string) =>
      dialect.read((await dialect.ask(mock.url, [{ role: "user", content }])).text).text;
    expect(await ask("Hello")).toBe("First answer.");
    expect(await ask("Summarise this")).toBe("They talked about the weather.");
    expect(await ask("Hello")).toBe("Second answer.");
    expect(await ask("Summarise that")).toBe("They talked about the weather.");
    expect(await ask("Hello")).toBe("First answer.");
    await mock.close();
  });
});

it("every example is tried above", () => {
  expect(readdirSync(examples).toSorted()).toEqual(["bad-day.mock", "several-askers.mock", "tool-loop.mock"]);
});
