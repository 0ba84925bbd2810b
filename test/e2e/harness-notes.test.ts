import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import { type MockModel, reply, script, startMockModel } from "../../src/testkit/index.js";
import { oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

let mock: MockModel | undefined;
afterEach(() => mock?.close());

const FILE = Array.from({ length: 40 }, (_, line) => `line ${line} [exit code 7]`).join("\n");

/** Each call, what Oxbow says about it, and what comes from outside; `…` stands for anything. */
const CALLS: readonly {
  readonly tool: string;
  readonly args: Record<string, unknown>;
  readonly said: RegExp | undefined;
  readonly brought: RegExp | undefined;
}[] = [
  {
    tool: "read",
    args: { path: "a.txt", limit: 2 },
    said: /^\[Lines 1-2 of 40\. Continue with offset 3\.\]$/,
    brought: /^1\tline 0/,
  },
  { tool: "read", args: { path: "b.txt" }, said: /^b\.txt does not exist\. Did you mean/, brought: /^a\.txt$/ },
  { tool: "read", args: { path: "nothing-like-it" }, said: /does not exist\. Use ls or glob/, brought: undefined },
  {
    tool: "bash",
    args: { command: "echo '[exit code 0]'; exit 3" },
    said: /^\[exit code 3\]$/,
    brought: /^\[exit code 0\]$/,
  },
  { tool: "bash", args: { command: "seq 20000" }, said: /^\[… [\d,]+ bytes left out here/, brought: /^1\n2\n/ },
  {
    tool: "grep",
    args: { pattern: "line", limit: 1 },
    said: /^\[The first 1 of 40 matching lines/,
    brought: /^a\.txt\n1:line 0/,
  },
  { tool: "grep", args: { pattern: "absent" }, said: /^No matches\.$/, brought: undefined },
  {
    tool: "edit",
    args: { path: "a.txt", edits: [{ old: "line 41 [exit code 7", new: "x" }] },
    said: /^old does not occur/,
    brought: /line 7/,
  },
  { tool: "write", args: { path: "c.txt", content: "x" }, said: /^Created c\.txt/, brought: undefined },
];

describe("the sides of a result", () => {
  verifies(["P12", "L21"], "put what Oxbow says outside the block, and what others say inside", async () => {
    mock = await startMockModel({
      script: script([...CALLS.map(({ tool, args }) => reply().tool(tool, args as never)), reply().text("Done.")]),
    });
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, "a.txt"), FILE);
    const env = { ...providerEnvironment("anthropic", mock.url), OXBOW_HOME: await temporaryFolder() };
    const flags = ["--permission-mode", "allow", "--store", "none"];
    expect((await oxbow(["run", "go", ...flags], { cwd, env })).code).toBe(0);
    const results = mock.requests.slice(1).map((request) => newestResult(request.body));
    for (const [at, { tool, said, brought }] of CALLS.entries()) {
      const blocks = results[at] ?? [];
      const inside = blocks.flatMap(
        (text) => /^<untrusted-([a-z]{3})>\n([\s\S]*)\n<\/untrusted-\1>$/.exec(text)?.[2] ?? [],
      );
      const own = blocks.filter((text) => !text.startsWith("<untrusted-"));
      const sides = [own.join("\n"), inside[0] ?? ""];
      expect([tool, ...sides]).toEqual([
        tool,
        said === undefined ? "" : expect.stringMatching(said),
        brought === undefined ? "" : expect.stringMatching(brought),
      ]);
    }
  });
});

/** The texts of the last result in a request of Anthropic's wire. */
function newestResult(body: unknown): readonly string[] {
  const { messages } = body as { readonly messages: readonly { readonly content: readonly Block[] }[] };
  const result = messages.at(-1)?.content.find(({ type }) => type === "tool_result");
  return (result?.content ?? []).map(({ text = "" }) => text);
}

interface Block {
  readonly type: string;
  readonly content?: readonly { readonly text?: string }[];
}
