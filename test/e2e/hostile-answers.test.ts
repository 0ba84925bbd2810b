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

describe("a path longer than the system knows", () => {
  verifies(["L8", "T3"], "is wrong input, without a question", async () => {
    const path = `/${"x".repeat(100_000)}`;
    const calls = [
      `read ${JSON.stringify({ path })}`,
      `write ${JSON.stringify({ path, content: "" })}`,
      `ls ${JSON.stringify({ path })}`,
    ];
    const script = `${calls.map((call) => `reply\n  tool ${call}\n`).join("")}reply\n  text: I see.\n`;
    const { run } = await machine(script);
    const { stdout } = await run(["run", "--stream-events", "go"]);
    const events = envelopes(stdout);
    const results = events.filter(({ kind }) => kind === "ToolResult");
    expect(results.map(({ payload }) => payload)).toEqual(
      calls.map(() => expect.objectContaining({ status: "error", content: expect.any(Array) })),
    );
    for (const result of results) expect(JSON.stringify(result)).toContain("must have at most 4096 characters");
    expect(events.some(({ kind }) => kind.startsWith("Permission"))).toBe(false);
  });
});
