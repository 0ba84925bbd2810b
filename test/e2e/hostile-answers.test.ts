/** Answers that no honest model sends, and what they do to the session. */
import { afterEach, describe, expect } from "vitest";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { envelopes, oxbow, providerEnvironment, temporaryFolder, WIRES } from "../support/program.js";
import { verifies } from "../verifies.js";

const mocks: MockModel[] = [];
afterEach(async () => {
  for (const mock of mocks.splice(0)) await mock.close();
});

async function machine(script: string, wire: (typeof WIRES)[number] = "anthropic") {
  const mock = await startMockModel({ script });
  mocks.push(mock);
  const home = await temporaryFolder();
  const cwd = await temporaryFolder();
  const env = { OXBOW_HOME: home, ...providerEnvironment(wire, mock.url) };
  const run = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    oxbow(args, { cwd, env: { ...env, ...more } });
  return { mock, run, home };
}

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

describe("arguments nested thousands of levels deep", () => {
  // Gemini's mock signs calls with their arguments, and would refuse to hear of a call without them.
  for (const wire of WIRES.filter((each) => each !== "gemini")) {
    verifies(["L8", "S1"], `are an error for the ${wire} model, and the session goes on`, async () => {
      const script = `reply\n  tool read ${nested(3000)}\n${"reply\n  text: I see.\n".repeat(3)}`;
      const { run } = await machine(script, wire);
      const first = await run(["run", "--stream-events", "go"]);
      expect(first).toMatchObject({ code: 0, stderr: "" });
      const events = envelopes(first.stdout);
      const result = events.find(({ kind }) => kind === "ToolResult");
      expect(result).toMatchObject({ payload: { status: "error" } });
      expect(JSON.stringify(result)).toContain("nested more than 100 levels deep");
      expect(await run(["run", "--continue", "and?"])).toMatchObject({ code: 0 });
      expect(await run(["session", "verify", events[0]?.session ?? ""])).toMatchObject({ code: 0 });
    });
  }
});
