import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { approve } from "../../../test/support/approve.js";
import { oxbow, temporaryFolder } from "../../../test/support/program.js";
import { RULED_TOOLS } from "../../runtime/parts/own-tools.js";
import { claudeRules } from "./claude-rules.js";

describe("rules of Claude Code", () => {
  it.each([
    ["Bash(git push:*)", [{ tool: "bash", command: "git push *" }]],
    ["Bash(curl *)", [{ tool: "bash", command: "curl *" }]],
    ["Bash", [{ tool: "bash" }]],
    ["Read(./.env)", [{ tool: "*", path: ".env" }]],
    ["Read(secrets/**)", [{ tool: "*", path: "secrets/**" }]],
    ["Read(*.pem)", [{ tool: "*", path: "**/*.pem" }]],
    ["Read(//etc/hosts)", [{ tool: "*", path: "/etc/hosts" }]],
    ["Edit(src/**)", ["write", "edit", "apply_patch"].map((tool) => ({ tool, path: "src/**" }))],
    ["mcp__github", [{ tool: "mcp__github__*" }]],
    ["mcp__github__push", [{ tool: "mcp__github__push" }]],
    ["Bash(a && b)", []],
    ["Mystery(x)", []],
  ])("%s", (text, rules) => expect(claudeRules(text, RULED_TOOLS)).toEqual(rules));

  it("of a project deny and ask after approval, and allow nothing", async () => {
    const [home, cwd] = [await temporaryFolder(), await temporaryFolder()];
    const permissions = {
      deny: ["Bash(ls:*)", "Read(./notes/**)", "Mystery(x)", "Read(a**b.ts)"],
      ask: ["Bash(pwd)"],
      allow: ["Bash(curl:*)"],
    };
    await mkdir(join(cwd, ".claude"));
    await writeFile(join(cwd, ".claude", "settings.json"), JSON.stringify({ permissions }));
    const env = { OXBOW_HOME: home };
    const test = async (command: string) => (await oxbow(["permissions", "test", command], { cwd, env })).code;
    expect([await test("ls -l"), await test("pwd")]).toEqual([0, 0]);
    await approve(cwd, { home });
    expect([await test("ls -l"), await test("ls"), await test("pwd"), await test("curl x")]).toEqual([1, 1, 4, 4]);
    expect(await test("cat notes/a.txt")).toBe(1);
    const { stderr } = await oxbow(["run", "hello"], { cwd, env });
    for (const rule of ["Mystery(x)", "Read(a**b.ts)"])
      expect(stderr).toContain(`no counterpart of the rule "${rule}"`);
  });
});
