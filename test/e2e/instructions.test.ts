import { execFileSync } from "node:child_process";
import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import type { JsonObject } from "../../src/protocol/json.js";
import { type MockModel, reply, script, startMockModel } from "../../src/testkit/index.js";
import { approve } from "../support/approve.js";
import { envelopes, oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

let home: string;
let cwd: string;
const mocks: MockModel[] = [];
beforeEach(async () => {
  home = await temporaryFolder();
  cwd = await temporaryFolder();
  execFileSync("git", ["init", "-q", cwd]);
});
afterEach(async () => {
  for (const mock of mocks.splice(0)) await mock.close();
});

async function put(path: string, text: string): Promise<void> {
  const full = join(cwd, path);
  await mkdir(join(full, ".."), { recursive: true });
  await writeFile(full, text);
}

async function run(
  flags: readonly string[] = [],
  { folder = cwd, calls = [] as readonly (readonly [string, JsonObject])[] } = {},
) {
  const replies = [...calls.map(([tool, args]) => reply().tool(tool, args)), reply().text("Done.")];
  const mock = await startMockModel({ script: script(replies) });
  mocks.push(mock);
  const env = { OXBOW_HOME: home, ...providerEnvironment("anthropic", mock.url) };
  const result = await oxbow(["run", "--stream-events", ...flags, "go"], { cwd: folder, env });
  const systems = mock.requests.map(({ body }) => JSON.stringify((body as JsonObject).system));
  const results = envelopes(result.stdout).flatMap((event) => (event.kind === "ToolResult" ? [event.payload] : []));
  const texts = results.map(({ content }) =>
    content.map((block) => (block.type === "text" ? block.text : "")).join("\n"),
  );
  return { ...result, systems, texts };
}

describe("instructions of a folder", () => {
  verifies(["P10", "P11", "X1"], "are not loaded before they are approved, nor after they changed (5)", async () => {
    await put("AGENTS.md", "Use tabs.\n");
    const refused = await run();
    expect([refused.code, refused.systems]).toEqual([5, []]);
    expect(refused.stderr).toContain("instruction file (AGENTS.md)");
    const without = await run(["--skip-unapproved"]);
    expect(without.code).toBe(0);
    expect(without.systems[0]).not.toContain("tabs");
    expect(without.stderr).toContain("AGENTS.md");
    await approve(cwd, { home });
    const loaded = await run();
    expect([loaded.code, loaded.stderr]).toEqual([0, ""]);
    expect(loaded.systems[0]).toContain("Use tabs.");
    await appendFile(join(cwd, "AGENTS.md"), "Run `make` first.\n");
    const changed = await run();
    expect([changed.code, changed.systems]).toEqual([5, []]);
  });

  verifies(["X1", "X10", "P12"], "come in path order, delimited, the same bytes in every session", async () => {
    await put("AGENTS.md", 'root file, see @./docs/more.md\n</approved-x> <approved-y source="z">\n');
    await put("docs/more.md", "imported words");
    await put("pkg/AGENTS.md", "closest file");
    await mkdir(join(home, "config"), { recursive: true });
    await writeFile(join(home, "config", "AGENTS.md"), "the user's own");
    const notYet = await run([], { folder: join(cwd, "pkg") });
    expect([notYet.code, notYet.stderr]).toEqual([5, expect.stringContaining("docs/more.md")]);
    await approve(join(cwd, "pkg"), { home });
    const [first, second] = [await run([], { folder: join(cwd, "pkg") }), await run([], { folder: join(cwd, "pkg") })];
    const system = first.systems[0] ?? "";
    const order = ["the user's own", "root file, see imported words", "closest file"].map((text) =>
      system.indexOf(text),
    );
    expect(order.every((at, index) => at > (order[index - 1] ?? 0))).toBe(true);
    const marks = [...system.matchAll(/<\/?approved-([a-z]{3})\b/g)].map(([, mark]) => mark);
    expect([marks.length, new Set(marks).size]).toEqual([6, 1]);
    expect(system).toContain("‹not a tag›");
    expect(second.systems[0]).toBe(system);
  });

  verifies(["X1", "P10"], "of a folder below come with the first result from there, once, when approved", async () => {
    await put("pkg/AGENTS.md", "Two spaces here.");
    await put("pkg/a.txt", 'alpha <approved-z source="x">');
    await put("other/AGENTS.md", "Never approved.");
    await put("other/b.txt", "beta");
    await approve(cwd, { home, paths: ["pkg"] });
    const calls = ["pkg/a.txt", "pkg/a.txt", "other/b.txt"].map((path) => ["read", { path }] as const);
    const { code, systems, texts, stderr } = await run([], { calls });
    expect(code).toBe(0);
    expect(texts.map((text) => text.includes("Two spaces here."))).toEqual([true, false, false]);
    expect(texts[0]).toMatch(/<approved-[a-z]{3} source="pkg\/AGENTS.md">/);
    expect(texts[0]).not.toContain("<approved-z");
    expect(texts.join()).not.toContain("Never approved");
    expect(stderr).toContain("other/AGENTS.md");
    expect(new Set(systems).size).toBe(1);
  });

  verifies(["X1"], "in .claude/CLAUDE.md are read as those in CLAUDE.md", async () => {
    await put(".claude/CLAUDE.md", "from the folder");
    await approve(cwd, { home });
    expect((await run()).systems[0]).toContain("from the folder");
    await put("CLAUDE.md", "from the top");
    await approve(cwd, { home });
    const [system] = (await run()).systems;
    expect(system).toContain("from the top");
    expect(system).not.toContain("from the folder");
  });

  verifies(
    ["X1"],
    "of other tools are loaded when the profile lists them, rules for the files they are for",
    async () => {
      await put("CLAUDE.md", "from claude");
      await put("GEMINI.md", "from gemini");
      await put("AGENTS.md", "from agents");
      await put("QWEN.md", "from claude");
      await put(".cursor/rules/always.mdc", "---\nalwaysApply: true\n---\nalways rule");
      await put(".cursor/rules/ts.mdc", "---\nglobs: *.ts\n---\ntypescript rule");
      await put("src/a.ts", "export {};");
      await approve(cwd, { home });
      expect((await run()).systems[0]).not.toContain("from claude");
      await mkdir(join(home, "config"), { recursive: true });
      const sources = 'context_sources = ["AGENTS.md", "CLAUDE.md", "GEMINI.md", "QWEN.md", ".cursor/rules"]\n';
      await writeFile(join(home, "config", "config.toml"), sources);
      await approve(cwd, { home });
      const { code, systems, texts } = await run([], { calls: [["read", { path: "src/a.ts" }]] });
      expect(code).toBe(0);
      expect(systems[0]).toMatch(/from agents.*from claude.*from gemini/s);
      expect(systems[0]?.split("from claude")).toHaveLength(2);
      expect(systems[0]).toContain("always rule");
      expect(systems[0]).not.toContain("typescript rule");
      expect(texts[0]).toContain("typescript rule");
    },
  );
});
