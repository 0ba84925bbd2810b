import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import type { JsonObject } from "../../src/protocol/json.js";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

let mock: MockModel | undefined;
afterEach(() => mock?.close());

const MOST_BYTES = 12_288;

async function put(folder: string, name: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), text);
}

/** The first request of a run in a new folder. */
async function firstRequest(
  model: string,
  flags: readonly string[] = [],
  prepare?: (cwd: string, home: string) => Promise<void>,
) {
  mock = await startMockModel({ script: "reply\n  text: Done.\nloop\n" });
  const { url } = mock;
  const cwd = await temporaryFolder();
  const home = await temporaryFolder();
  await prepare?.(cwd, home);
  const env = {
    ...providerEnvironment("anthropic", url),
    ...providerEnvironment("openai", url),
    OXBOW_HOME: home,
  };
  const args = ["run", "go", "--store", "none", "--permission-mode", "allow", "--model", model, ...flags];
  const { code, stderr } = await oxbow(args, { cwd, env });
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  const body = mock.requests[0]?.body as JsonObject & { readonly tools?: readonly JsonObject[] };
  await mock.close();
  const tools = (body.tools ?? []).map((tool) => String(tool.name ?? (tool.function as JsonObject).name));
  return { text: JSON.stringify(body), tools };
}

describe("the first request", () => {
  verifies(["L21", "T1", "M20"], "offers each family the edit format it was trained on, and is small", async () => {
    for (const [model, edits] of [
      ["anthropic:claude-sonnet-4-5", "edit"],
      ["openai:gpt-4o", "edit"],
      ["openai:gpt-5", "apply_patch"],
      ["openai:gpt-5-codex", "apply_patch"],
      ["openai:vendor/gpt-oss-120b", "apply_patch"],
    ] as const) {
      const { text, tools } = await firstRequest(model);
      expect([model, tools.filter((name) => name === "edit" || name === "apply_patch")]).toEqual([model, [edits]]);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MOST_BYTES);
    }
  });

  verifies(["L21", "T2"], "offers what another tool replaces where that one is off", async () => {
    const settings = '[tool_sets]\nmine = ["read", "edit"]\nuse = ["mine"]\n';
    const { tools } = await firstRequest("openai:gpt-5", [], (_, home) =>
      put(join(home, "config"), "config.toml", settings),
    );
    expect(tools).toEqual(["read", "edit"]);
  });

  verifies(["L21"], "says where the model is: the shell, the branch, and what a sandbox means", async () => {
    const { text } = await firstRequest("openai:gpt-4o", [], async (cwd) => {
      await mkdir(join(cwd, ".git"));
      await writeFile(join(cwd, ".git", "HEAD"), "ref: refs/heads/topic\n");
      await Promise.all(["objects", "refs"].map((name) => mkdir(join(cwd, ".git", name))));
    });
    expect(text).toMatch(/\\nShell: (bash|sh)\\n/);
    // Without an index the number of changes is unknown.
    expect(text).toContain('Git branch: topic"');
    const changed = await firstRequest("openai:gpt-4o", [], async (cwd) => {
      execFileSync("git", ["init", "-q", "-b", "main"], { cwd });
      await writeFile(join(cwd, "a"), "one\n");
      execFileSync("git", ["add", "."], { cwd });
      await writeFile(join(cwd, "a"), "another\n");
    });
    expect(changed.text).toContain("Git branch: main, unstaged changes in 1 tracked file");
    expect(text).toContain("Commands run in a sandbox where the machine has one");
    const off = await firstRequest("openai:gpt-4o", ["--sandbox", "off"]);
    expect(off.text).not.toContain("Commands run in a sandbox");
    expect(off.text).not.toContain("Git branch");
  });
});
