import { afterEach, describe, expect } from "vitest";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { oxbow, providerEnvironment } from "../support/program.js";
import { verifies } from "../verifies.js";

const mocks: MockModel[] = [];
afterEach(async () => {
  for (const mock of mocks.splice(0)) await mock.close();
});

async function model(): Promise<{ mock: MockModel; env: Record<string, string> }> {
  const mock = await startMockModel({ script: "model small context=8192\nreply times=any\n  text: sent\n" });
  mocks.push(mock);
  return { mock, env: { ...providerEnvironment("openai", mock.url), ...providerEnvironment("ollama", mock.url) } };
}

const asked = ({ requests }: MockModel) => requests.filter(({ path }) => /completions|api\/chat/.test(path));

describe("standard input", () => {
  verifies(["U1"], "that no model can read is refused before it is sent, with its size", async () => {
    const { mock, env } = await model();
    const cases: readonly (readonly [readonly string[], string, RegExp])[] = [
      [["-m", "gpt-4o"], "word ".repeat(150_000), /about 150,\d+ tokens \(750 KB\), and it reads 128,000 tokens/],
      [["-m", "ollama:small"], "word ".repeat(20_000), /about 20,\d+ tokens \(100 KB\), and it reads 8,192 tokens/],
      [["-m", "gpt-4o"], `${"\0".repeat(2000)}ELF`, /Standard input is binary \(2 KB\)/],
      [["-m", "gpt-4o", "what is it"], "\u0001\u0002\u0003".repeat(50), /Standard input is binary/],
      [["-m", "gpt-4o", "--plain"], "\0\u0001\n", /Standard input is binary/],
    ];
    for (const [args, input, expected] of cases) {
      const { code, stdout, stderr } = await oxbow(args, { env, input });
      expect(stderr, args.join(" ")).toMatch(expected);
      expect([code, stdout], args.join(" ")).toEqual([2, ""]);
    }
    expect(asked(mock)).toEqual([]);
    expect((await oxbow(["-m", "openai:small"], { env, input: "word ".repeat(2_000) })).stdout).toBe("sent\n");
  });
});
