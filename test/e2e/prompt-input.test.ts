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

describe("a prompt that begins with a sign", () => {
  verifies(["U1"], "runs as a command, is refused, or is sent with a notice", async () => {
    const { mock, env } = await model();
    const shell = await oxbow(["-m", "gpt-4o", "! ls"], { env });
    expect([shell.code, shell.stdout]).toEqual([2, ""]);
    expect(shell.stderr).toContain("'! ls' is a shell command for a conversation, not a prompt.");
    const lines = "! echo from-the-shell\n/ route list\n/etc/hosts is wrong\n@nosuchroute hello\n";
    const { stdout, stderr } = await oxbow(["-m", "openai:small", "--run", "-", "--keep-going"], { env, input: lines });
    expect(stdout).toContain("from-the-shell");
    expect(stderr).toContain("There is no route @nosuchroute and no file nosuchroute here: sent as plain text.");
    expect(
      asked(mock).map(({ body }) => JSON.stringify(body).match(/from-the-shell|route list|etc.hosts|nosuchroute/)?.[0]),
    ).toEqual(["etc/hosts", "etc/hosts"]);
  });
});
