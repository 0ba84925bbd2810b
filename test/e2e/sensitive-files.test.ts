import { execFileSync, spawnSync } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import type { JsonObject } from "../../src/protocol/json.js";
import { reply, script, startMockModel } from "../../src/testkit/index.js";
import { envelopes, oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

describe("files that hold secrets, and files behind links", () => {
  verifies(["P3", "P9"], "are shown on no road without a question", async () => {
    const home = await temporaryFolder();
    const cwd = await temporaryFolder();
    const word = "rosebud-in-winter";
    await mkdir(join(cwd, "src/deep"), { recursive: true });
    await mkdir(join(home, "private"));
    await writeFile(join(home, "private/notes.txt"), `notes ${word}\n`);
    await writeFile(join(cwd, ".env"), `WORD=${word}\n`);
    await writeFile(join(cwd, "src/a.ts"), "const WORD = 1;\n");
    await symlink(join(home, "private"), join(cwd, "src/deep/elsewhere"));
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], {
        cwd,
        env: { ...process.env, HOME: home },
      });
    git("init", "-q");
    git("add", ".");
    git("commit", "-qm", "first");
    const bash = (command: string) => ["bash", { command }] as const;
    const calls: readonly (readonly [string, JsonObject])[] = [
      ...[bash("grep -r WORD ."), bash("rg --hidden WORD"), bash("find . -print0 | xargs -0 cat"), bash("cat .e*")],
      ...[bash("grep -R notes src"), bash("cat src/*/*/*"), bash("git show HEAD"), bash("git grep WORD")],
      ["read", { path: ".env" }],
      ["git", { action: "show", args: ["HEAD:.env"] }],
      ["grep", { pattern: "WORD" }],
      ["git", { action: "log", args: ["-p"] }],
      ["git", { action: "show" }],
      bash("grep -r WORD src"),
    ];
    const replies = [...calls.map(([tool, args]) => reply().tool(tool, args)), reply().text("Done.")];
    const mock = await startMockModel({ script: script(replies) });
    try {
      const env = { OXBOW_HOME: home, ...providerEnvironment("anthropic", mock.url) };
      const { stdout } = await oxbow(["run", "--stream-events", "--permission-mode", "ask", "go on"], { cwd, env });
      const results = envelopes(stdout).flatMap((event) => (event.kind === "ToolResult" ? [event.payload] : []));
      const expected = calls.map((_, index) => (index >= 10 || index === 6 ? "ok" : "denied"));
      const said = JSON.stringify(results.map(({ content }) => content));
      expect(
        results.map(({ status }, index) => [calls[index], status]),
        said,
      ).toEqual(expected.map((status, index) => [calls[index], status]));
      expect(stdout).not.toContain(word);
      const text = results.map(({ content }) => JSON.stringify(content));
      expect(text[6]).toContain("the changes of .env are left out");
      expect(text[10]).toContain("const WORD");
      expect(text[11]).toContain("the changes of .env are left out");
      expect(text[13]).toContain("const WORD");
    } finally {
      await mock.close();
    }
  });
});

verifies(
  ["S4", "P9"],
  "a key that Oxbow holds reaches neither model, output nor disk, whatever it looks like",
  async () => {
    const cwd = await temporaryFolder();
    const words = ["acme-opens-the-door", "another-plain-sentence"];
    await writeFile(join(cwd, "notes.txt"), `first ${words[0]} then ${words[1]}.\n`);
    const mock = await startMockModel({
      script: script([
        reply().tool("read", { path: "notes.txt" }),
        reply().tool("bash", { command: "cat notes.txt" }),
        reply().text(`I saw ${words[0]}.`),
      ]),
    });
    try {
      const own = { ...providerEnvironment("anthropic", mock.url), ANTHROPIC_API_KEY: words[0] ?? "" };
      const env = { ...own, WORK_TOKEN: words[1] ?? "" };
      const { stdout, home } = await oxbow(["run", "--stream-events", "--store", "files", "go on"], { cwd, env });
      const results = envelopes(stdout).flatMap((event) => (event.kind === "ToolResult" ? [event.payload] : []));
      expect(results.map(({ status }) => status)).toEqual(["ok", "ok"]);
      expect(JSON.stringify(results)).toContain("first «redacted:own-key» then «redacted:own-key».");
      expect(mock.requests.length).toBe(3);
      expect(JSON.stringify(mock.requests.map(({ body }) => body))).not.toMatch(new RegExp(words.join("|")));
      const found = spawnSync("grep", ["-rlE", words.join("|"), home], { encoding: "utf8" });
      expect([found.status, found.stdout]).toEqual([1, ""]);
    } finally {
      await mock.close();
    }
  },
);
