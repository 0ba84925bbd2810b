/** The summary request on the wire: its beginning is that of the request before, so that a provider's cache serves it. */
import { afterEach, describe, expect } from "vitest";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/protocol/json.js";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

let mock: MockModel | undefined;
afterEach(() => mock?.close());

const SCRIPT = `reply times=any when body contains "You write the summary"
  text: ## Goal: look
reply
  thinking: I should look.
  tool ls {}
reply
  text repeat=400: Seen. 
reply times=any
  text: Going on.
`;
/** Lists what differs from call to call: marks of the cache, and what only limits the answer. */
const PASSING = ["cache_control", "max_tokens", "max_output_tokens", "num_predict"];

function withoutPassing(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((each) => withoutPassing(each) ?? null);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => !PASSING.includes(key));
  return Object.fromEntries(kept.map(([key, each]) => [key, withoutPassing(each)]));
}

function listOf(body: JsonObject | undefined): readonly JsonValue[] {
  const list = body?.messages ?? body?.input ?? body?.contents;
  return Array.isArray(list) ? list : [];
}

describe("the request for a summary", () => {
  for (const [wire, model] of [
    ["anthropic", "anthropic:claude-sonnet-4-5"],
    ["openai", "openai:gpt-4o"],
    ["openai-responses", "openai-responses:gpt-5"],
    ["gemini", "gemini:gemini-2.5-pro"],
    ["ollama", "ollama:mock-model"],
  ] as const) {
    verifies(
      ["X7", "L21"],
      `repeats the bytes of the request before, so that ${wire} reads them from its cache`,
      async () => {
        mock = await startMockModel({ script: SCRIPT });
        const env = { ...providerEnvironment(wire, mock.url), OXBOW_HOME: await temporaryFolder() };
        const input = "look around\n/compact\nand now?\n";
        const args = ["run", "--plain", "--store", "none", "--permission-mode", "allow", "--model", model];
        const { code, stderr } = await oxbow(args, { cwd: await temporaryFolder(), env, input });
        expect([code, stderr]).toEqual([0, expect.any(String)]);
        const calls = mock.requests.map(({ body }) => withoutPassing(body as JsonObject) as JsonObject);
        expect(mock.requests[0]?.wire).toBe(wire);
        const at = calls.findIndex((body) => JSON.stringify(body).includes("You write the summary"));
        expect([at, calls.length]).toEqual([2, 4]);
        const [before, summary, after] = [calls[at - 1], calls[at], calls[at + 1]];
        const { messages: _a, input: _b, contents: _c, ...around } = before ?? {};
        expect(summary).toMatchObject(around);
        expect(Object.keys(summary ?? {}).sort()).toEqual(Object.keys(before ?? {}).sort());
        const [old, asked] = [listOf(before), listOf(summary)];
        expect(old.length).toBeGreaterThan(2);
        // Ollama and Chat Completions send only the thinking of the current turn.
        expect(asked.slice(0, old.length)).toEqual(listOf(before).map(withoutThinking));
        expect(JSON.stringify(asked)).not.toMatch(/The assistant used|\[calls/);
        expect(JSON.stringify(listOf(after))).toContain("## Goal: look");
        expect(JSON.stringify(listOf(after))).not.toContain("You write the summary");
      },
    );
  }
});

function withoutThinking(message: JsonValue): JsonValue {
  if (!isJsonObject(message)) return message;
  const { thinking: _, reasoning_content: __, ...rest } = message;
  return rest;
}
