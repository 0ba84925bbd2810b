import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/protocol/json.js";
import { type MockModel, type RecordedRequest, startMockModel } from "../../src/testkit/index.js";
import { withoutCacheHints } from "../support/cache-hints.js";
import { oxbow, providerEnvironment, temporaryFolder, WIRES, withoutSandboxNotice } from "../support/program.js";
import { verifies } from "../verifies.js";

let mock: MockModel | undefined;
afterEach(() => mock?.close());

/** Each model call in turn: thoughts, two tools at once, one that fails, an answer, and then a plain answer. */
const SCRIPT = `
reply
  thinking: I should look at the file.
  text: Let me look.
  tool read {"path": "a.txt"}
  tool ls {}
reply
  thinking: And at one that is not there.
  tool read {"path": "none.txt"}
reply
  thinking: That is enough.
  text: It says hello.
loop
`;

const MODELS: Readonly<Record<(typeof WIRES)[number], string>> = {
  anthropic: "anthropic:claude-sonnet-4-5",
  openai: "openai:gpt-5",
  "openai-responses": "openai-responses:gpt-5",
  gemini: "gemini:gemini-3-pro-preview",
  ollama: "ollama:mock-model",
};

/** Tells what the provider reads, in the order in which it reads it: what stands before the conversation, then its messages. */
function parts(request: RecordedRequest): readonly string[] {
  const body = withoutCacheHints(request.body as JsonObject);
  const { messages, contents, input, ...rest } = body;
  const list = [messages, contents, input].find(Array.isArray) as readonly JsonValue[];
  // The room that Ollama makes for the answer is no part of the prompt.
  const { options, ...head } = rest;
  return [JSON.stringify(head), ...list.map((message) => JSON.stringify(withoutThoughts(message, request)))];
}

/** Chat servers want thoughts back only while the answer goes on, and leave older ones out of the prompt themselves. */
function withoutThoughts(message: JsonValue, { wire }: RecordedRequest): JsonValue {
  if (!isJsonObject(message) || (wire !== "openai" && wire !== "ollama")) return message;
  const { thinking, reasoning_content, ...rest } = message;
  return rest;
}

describe("the prompt", () => {
  verifies(
    ["X10", "M7", "S6"],
    "before the newest message is the same bytes from call to call, also after a resume",
    async () => {
      mock = await startMockModel({ script: SCRIPT });
      const { url } = mock;
      const env = {
        OXBOW_HOME: await temporaryFolder(),
        ...Object.assign({}, ...WIRES.map((wire) => providerEnvironment(wire, url))),
      };
      const cwd = await temporaryFolder();
      await writeFile(join(cwd, "a.txt"), "hello\n");
      const round = WIRES.flatMap((wire) => [`/model ${MODELS[wire]}`, `What does a.txt say, ${wire}?`]);
      const first = [...round, "/plan on", "Plan a change.", "/plan off", "!echo aside", "/status", ...round];
      const before = await oxbow(["--plain", "--permission-mode", "allow"], {
        env,
        cwd,
        input: `${first.join("\n")}\n`,
      });
      expect(withoutSandboxNotice(before.stderr)).not.toContain("oxbow:");
      const after = await oxbow(["--plain", "--permission-mode", "allow", "--continue"], {
        env,
        cwd,
        input: `${round.join("\n")}\n`,
      });
      expect(withoutSandboxNotice(after.stderr)).not.toContain("oxbow:");
      expect(mock.failures).toEqual([]);
      const calls = (wire: string) => mock?.requests.filter((request) => request.path.includes(wire)) ?? [];
      for (const path of ["/messages", "/chat/completions", "/responses", "GenerateContent", "/api/chat"]) {
        const requests = calls(path);
        expect(requests.length, path).toBeGreaterThanOrEqual(9);
        for (const [index, request] of requests.entries()) {
          const earlier = parts(requests[Math.max(0, index - 1)] as RecordedRequest);
          const now = parts(request).slice(0, earlier.length);
          expect(now, `${path}, request ${index + 1}`).toEqual(earlier);
        }
      }
    },
  );
});
