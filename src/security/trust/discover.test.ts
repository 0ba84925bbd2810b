import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, realpathSync, rmSync, truncateSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { needs } from "../../../test/support/needs.js";
import { nameOf } from "./content.js";
import { discoverContent, NestedContent } from "./discover.js";
import { readContent, sha256 } from "./read-content.js";
import { Testbed } from "./test-support/testbed.js";

const NOBODY = 65534;
let bed: Testbed;

beforeEach(() => {
  bed = new Testbed();
});

afterEach(() => bed.remove());

async function listed(): Promise<string[]> {
  const { items } = await bed.find();
  return items.map((item) => `${item.owner} ${item.kind} ${nameOf(item)}`);
}

async function problems(): Promise<string[]> {
  const { unusable } = await bed.find();
  return unusable.map(({ path, problem }) => `${path} ${problem}`);
}

describe("what a folder would load", () => {
  it("is nothing in an ordinary repository", async () => {
    bed.put("README.md", "hello");
    bed.put("src/tools/x.sh", "echo");
    expect(await listed()).toEqual([]);
  });

  it("is found in every known place, with its kind", async () => {
    bed.put("AGENTS.md", "be kind");
    bed.put("CLAUDE.md", "be brief");
    bed.put(".cursor/rules/deep/a.mdc", "rule");
    bed.put(".cursor/rules/a.txt", "no rule");
    bed.put(".github/copilot-instructions.md", "x");
    bed.put(".agents/skills/pdf/SKILL.md", "---\nname: pdf\n---\n");
    bed.put(".agents/skills/pdf/scripts/fill.py", "print()");
    bed.put(".agents/skills/not-a-skill/notes.md", "x");
    bed.program(".oxbow/hooks.d/start/10-a");
    bed.program(".oxbow/tools/t");
    bed.program(".oxbow/commands/c");
    bed.program(".oxbow/providers/p");
    bed.put(".oxbow/plugins/p/index.ts", "export {}");
    bed.put(".oxbow/aliases.toml", '[aliases]\na = "/help"\n');
    bed.put(".oxbow/prompts/p.md", "x");
    bed.put(".oxbow/agents/a.md", "x");
    bed.put(".oxbow/profiles/ci.toml", 'model = "x"\n');
    bed.put(".oxbow/skills/s/SKILL.md", "x");
    bed.put(".oxbow/sessions/s1/log.md", "never");
    expect(await listed()).toEqual([
      "project instructions AGENTS.md",
      "project instructions CLAUDE.md",
      "project instructions .cursor/rules/deep/a.mdc",
      "project instructions .github/copilot-instructions.md",
      "project skill .agents/skills/pdf/SKILL.md",
      "project skill-file .agents/skills/pdf/scripts/fill.py",
      "project hook .oxbow/hooks.d/start/10-a",
      "project tool .oxbow/tools/t",
      "project command .oxbow/commands/c",
      "project provider .oxbow/providers/p",
      "project plugin .oxbow/plugins/p/index.ts",
      "project profile .oxbow/profiles/ci.toml",
      "project alias .oxbow/aliases.toml",
      "project sessions .oxbow/sessions",
      "project instructions .oxbow/prompts/p.md",
      "project agent .oxbow/agents/a.md",
      "project skill .oxbow/skills/s/SKILL.md",
    ]);
  });

  it("carries hash, size and whether it can be executed", async () => {
    bed.program(".oxbow/tools/t", "#!/bin/sh\n");
    expect(await bed.item(".oxbow/tools/t")).toEqual({
      root: bed.folder,
      path: ".oxbow/tools/t",
      kind: "tool",
      owner: "project",
      executable: true,
      sha256: sha256("#!/bin/sh\n"),
      size: 10,
      source: join(bed.folder, ".oxbow"),
      name: "t",
    });
  });

  it("includes the user's own, but not the user's profile as a whole", async () => {
    bed.put(join(bed.config, "AGENTS.md"), "mine");
    bed.put(join(bed.config, "aliases.toml"), "x = 1");
    bed.program(join(bed.config, "hooks.d/start/10-a"));
    bed.put(join(bed.config, "config.toml"), 'model = "x"\n[mcp_servers.search]\ncommand = "search"\n');
    expect(await listed()).toEqual([
      "user hook hooks.d/start/10-a",
      "user mcp config.toml: mcp_servers.search",
      "user alias aliases.toml",
      "user instructions AGENTS.md",
    ]);
  });

  it("does not call the user's what lies where the tools may write", async () => {
    const config = join(bed.folder, "cfg");
    bed.put(join(config, "aliases.toml"), "x = 1");
    const { items } = await discoverContent({ folder: bed.folder, home: { config } });
    expect(items.map(({ owner }) => owner)).toEqual(["project"]);
  });

  it("takes the fallback files that are in use", async () => {
    bed.put("CLAUDE.md", "c");
    bed.put("GEMINI.md", "g");
    const { items } = await discoverContent({
      folder: bed.folder,
      home: bed.home,
      sources: ["AGENTS.md", "GEMINI.md"],
    });
    expect(items.map(({ path }) => path)).toEqual(["GEMINI.md"]);
  });

  it("knows the instruction files of other tools", async () => {
    const files = ["AGENTS.override.md", "AGENT.md", "CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", "GEMINI.md"]
      .concat(["QWEN.md", ".cursorrules", ".windsurfrules", ".github/copilot-instructions.md", ".clinerules"])
      .concat([".roorules", ".goosehints", ".junie/guidelines.md", ".rules"]);
    const folders = [".cursor/rules", ".windsurf/rules", ".github/instructions", ".claude/rules", ".kiro/steering"];
    const inside = [".cursor/rules/a.mdc", ".windsurf/rules/a.md", ".github/instructions/a.instructions.md"].concat([
      ".claude/rules/a.md",
      ".kiro/steering/a.md",
    ]);
    for (const file of [...files, ...inside]) bed.put(file, file);
    const { items } = await discoverContent({ folder: bed.folder, home: bed.home, sources: [...files, ...folders] });
    const found = items.filter(({ kind }) => kind === "instructions").map(({ path }) => path);
    expect(found.sort()).toEqual([...files, ...inside].sort());
  });
});

describe("files that list programs to start", () => {
  it("are an item for the hooks of each event in the front matter of a skill, an agent type or a command", async () => {
    const hooks =
      "hooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: x\n          timeout: 7\n";
    bed.put(".claude/skills/a/SKILL.md", `---\nname: a\ndescription: d\n${hooks}---\nhooks: no\n`);
    bed.put(".claude/skills/b/SKILL.md", "---\nname: b\ndescription: d\n---\nhooks:\n  Stop: x\n");
    bed.put(".claude/skills/b/notes.md", `---\n${hooks}---\n`);
    bed.put(".oxbow/agents/c.md", `---\ndescription: d\n${hooks.replace("Stop", '"Pre\\u0054oolUse"')}---\n`);
    bed.put(".claude/commands/d.md", `---\n${hooks}---\n`);
    bed.put(".codex/prompts/e.md", `---\n${hooks}---\n`);
    bed.put(".oxbow/commands/f.md", `---\n${hooks}---\n`);
    bed.put(".oxbow/commands/g", `---\n${hooks}---\n`);
    expect((await listed()).filter((line) => line.includes("event-hooks"))).toEqual([
      "project event-hooks .claude/commands/d.md: hooks.Stop",
      "project event-hooks .claude/skills/a/SKILL.md: hooks.Stop",
      "project event-hooks .oxbow/commands/f.md: hooks.Stop",
      "project event-hooks .oxbow/agents/c.md: hooks.PreToolUse",
    ]);
    const { items } = await bed.find();
    const item = items.find(({ entry }) => entry === "hooks.Stop");
    const canonical = '[{"hooks":[{"command":"x","timeout":7,"type":"command"}]}]';
    expect(item?.sha256).toBe(sha256(canonical));
  });

  it("are an item for each server and each event's hooks", async () => {
    bed.put(".mcp.json", '{"mcpServers": {"b": {"command": "b"}, "a": {"args": ["1"], "command": "a"}}}');
    bed.put(".oxbow/config.toml", 'mcp_servers = [{ name = "c", cmd = "c" }]\n[hooks]\nStop = [{ command = "x" }]\n');
    expect(await listed()).toEqual([
      "project mcp .mcp.json: mcp_servers.b",
      "project mcp .mcp.json: mcp_servers.a",
      "project profile .oxbow/config.toml",
      "project mcp .oxbow/config.toml: mcp_servers.c",
      "project event-hooks .oxbow/config.toml: hooks.Stop",
    ]);
    expect((await bed.item(".mcp.json: mcp_servers.a")).sha256).toBe(sha256('{"args":["1"],"command":"a"}'));
  });

  it("keep an entry's hash when only the order or the neighbours change", async () => {
    bed.put(".mcp.json", '{"mcpServers": {"a": {"command": "a", "args": ["1"]}}}');
    const before = await bed.item(".mcp.json: mcp_servers.a");
    bed.put(".mcp.json", '{"mcpServers": {"z": {"command": "z"}, "a": {"args": ["1"],   "command": "a"}}}');
    expect(await bed.item(".mcp.json: mcp_servers.a")).toEqual(before);
  });

  it("cannot hide one entry behind another of the same name", async () => {
    bed.put(".mcp.json", '{"mcpServers": {"a": {"command": "good"}}, "mcp_servers": {"a": {"command": "evil"}}}');
    const { items } = await bed.find();
    expect(items).toHaveLength(1);
    expect(items[0]?.sha256).toBe(sha256('[{"command":"good"},{"command":"evil"}]'));
  });

  it.each(["{", "[]", "null", '"text"', ""])("are left out if they are invalid: %j", async (text) => {
    bed.put(".mcp.json", text);
    expect(await listed()).toEqual([]);
    expect(await problems()).toEqual([".mcp.json is not valid JSON"]);
  });

  it("are left out if they are nested too deeply, and the others are there", async () => {
    const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
    bed.put(".mcp.json", `{"mcpServers": ${nested(50_000)}}`);
    bed.put(".claude/settings.json", `{"hooks": ${nested(50_000)}}`);
    bed.put(".cursor/mcp.json", `{"mcpServers": ${nested(90)}}`);
    bed.put(".oxbow/config.toml", `a = ${"[".repeat(50_000)}${"]".repeat(50_000)}\n`);
    const found = await listed();
    expect(found.filter((item) => !item.includes("profile"))).toEqual(["project mcp .cursor/mcp.json: mcp_servers.a"]);
    expect((await problems()).sort()).toEqual([
      ".claude/settings.json is not valid JSON",
      ".mcp.json is not valid JSON",
      ".oxbow/config.toml is not valid TOML",
    ]);
  });

  it.each(["null", "7", '"sh -c x"', "[]"])("have entries of any shape: %s", async (value) => {
    bed.put(".mcp.json", `{"mcpServers": {"__proto__": ${value}}}`);
    expect(await listed()).toEqual(["project mcp .mcp.json: mcp_servers.__proto__"]);
  });
});

describe("folders above", () => {
  it("are looked in up to the top of the repository, outermost first, under its key", async () => {
    bed.put("AGENTS.md", "top");
    bed.put("a/AGENTS.md", "a");
    bed.put("a/b/AGENTS.md", "b");
    bed.put(join(bed.base, "AGENTS.md"), "planted above");
    const { items } = await discoverContent({ folder: join(bed.folder, "a/b"), home: bed.home });
    expect(items.map(({ root, path }) => `${root} ${path}`)).toEqual([
      `${bed.folder} AGENTS.md`,
      `${bed.folder} a/AGENTS.md`,
      `${bed.folder} a/b/AGENTS.md`,
    ]);
  });

  it("are not looked in without a repository", async () => {
    rmSync(join(bed.folder, ".git"), { recursive: true });
    bed.put("AGENTS.md", "above");
    bed.put("sub/AGENTS.md", "here");
    const { items } = await discoverContent({ folder: join(bed.folder, "sub"), home: bed.home });
    expect(items.map(({ path }) => path)).toEqual(["AGENTS.md"]);
    expect(items[0]?.root).toBe(join(bed.folder, "sub"));
  });

  it("count up to the given one, each under its own key", async () => {
    bed.put(join(bed.base, "AGENTS.md"), "shared by all projects");
    bed.put("AGENTS.md", "top");
    const { items } = await discoverContent({ folder: bed.folder, home: bed.home, stopAt: bed.base });
    expect(items.map(({ root, path }) => `${root} ${path}`)).toEqual([
      `${bed.base} AGENTS.md`,
      `${bed.folder} AGENTS.md`,
    ]);
  });

  it("end at the top when the given one is not above", async () => {
    bed.put("AGENTS.md", "top");
    const { items } = await discoverContent({ folder: bed.folder, home: bed.home, stopAt: homedir() });
    expect(items).toHaveLength(1);
  });
});

describe("folders below", () => {
  it("bring their instruction files when a file there is first touched, outermost first, once", async () => {
    bed.put("AGENTS.md", "top");
    bed.put("a/AGENTS.md", "a");
    bed.put("a/b/CLAUDE.md", "b");
    bed.program("a/b/.oxbow/tools/t");
    const nested = new NestedContent(bed);
    const paths = async (path: string) => (await nested.touch(path)).items.map((item) => item.path);
    expect(await paths("README.md")).toEqual([]);
    expect(await paths("a/b/new-file.ts")).toEqual(["a/AGENTS.md", "a/b/CLAUDE.md"]);
    expect(await paths("a/b/new-file.ts")).toEqual([]);
    expect(await paths("a/other.ts")).toEqual([]);
  });

  it("are known by their real place, and never outside of the folder", async () => {
    bed.put("real/AGENTS.md", "x");
    bed.link("real", "alias");
    bed.put(join(bed.outside, "AGENTS.md"), "not ours");
    bed.link(bed.outside, "out");
    const nested = new NestedContent(bed);
    expect((await nested.touch("alias/f.ts")).items.map(({ path }) => path)).toEqual(["real/AGENTS.md"]);
    expect(await nested.touch("out/f.ts")).toEqual({ roots: [], items: [], unusable: [] });
    expect(await nested.touch(join(bed.outside, "f.ts"))).toEqual({ roots: [], items: [], unusable: [] });
    expect(await nested.touch("../outside/f.ts")).toEqual({ roots: [], items: [], unusable: [] });
  });
});

describe("tricks", () => {
  it("never reads what a link leads to outside of the folder", async () => {
    bed.put(join(bed.outside, "key"), "private");
    bed.link(join(bed.outside, "key"), "AGENTS.md");
    bed.link(bed.outside, ".oxbow/tools");
    bed.put(".git/config", "[remote]");
    bed.link(".git/config", "GEMINI.md");
    bed.link("nowhere", "CLAUDE.md");
    bed.link("QWEN.md", "QWEN.md");
    expect(await listed()).toEqual([]);
    expect(await problems()).toEqual([
      `AGENTS.md leads out of the folder, to ${bed.outside}/key`,
      "CLAUDE.md points to a missing file",
      "GEMINI.md leads into .git/config",
      "QWEN.md points to itself",
      `.oxbow/tools leads out of the folder, to ${bed.outside}`,
    ]);
  });

  it("follows links within the folder, and takes one file under two names once", async () => {
    bed.put("AGENTS.md", "x");
    bed.link("AGENTS.md", "CLAUDE.md");
    bed.put("shared/pdf/SKILL.md", "x");
    bed.link("../../shared/pdf", ".agents/skills/pdf");
    const { items } = await bed.find();
    expect(items.map(({ path, target }) => [path, target])).toEqual([
      ["AGENTS.md", undefined],
      [".agents/skills/pdf/SKILL.md", join(bed.folder, "shared/pdf/SKILL.md")],
    ]);
  });

  it("takes a file that would be used in two ways as two", async () => {
    bed.put("AGENTS.md", "#!/bin/sh\n", 0o755);
    bed.link("../../AGENTS.md", ".oxbow/tools/t");
    expect(await listed()).toEqual(["project instructions AGENTS.md", "project tool .oxbow/tools/t"]);
  });

  it("lets a user keep configuration elsewhere", async () => {
    bed.program(join(bed.outside, "tools/t"));
    bed.link(join(bed.outside, "tools"), join(bed.config, "tools"));
    expect(await listed()).toEqual(["user tool tools/t"]);
  });

  it("does not wait for a named pipe, nor take a folder for a file", async () => {
    spawnSync("mkfifo", [join(bed.folder, "AGENTS.md")]);
    mkdirSync(join(bed.folder, "CLAUDE.md"));
    mkdirSync(join(bed.folder, ".oxbow/tools"), { recursive: true });
    spawnSync("mkfifo", [join(bed.folder, ".oxbow/tools/t")]);
    expect(await listed()).toEqual([]);
    expect(await problems()).toEqual([
      "AGENTS.md is a named pipe, not a file",
      "CLAUDE.md is a folder, not a file",
      ".oxbow/tools/t is a named pipe, not a file",
    ]);
  });

  it("does not read devices", async () => {
    bed.link("/dev/zero", join(bed.config, "AGENTS.md"));
    expect(await listed()).toEqual([]);
    expect(await problems()).toEqual(["AGENTS.md is not a regular file"]);
  });

  it("leaves huge files out", async () => {
    truncateSync(bed.put("AGENTS.md", ""), 1024 * 1024 + 1);
    for (let index = 0; index < 5; index++) truncateSync(bed.program(`.oxbow/tools/t${index}`), 129 * 1024 * 1024);
    expect(await listed()).toEqual([]);
    expect(await problems()).toContain("AGENTS.md is larger than 1 MB");
    expect(await problems()).toContain(".oxbow/tools/t0 is larger than 128 MB");
  });

  needs("linux").it("counts the bytes read, not the reported size of a file", () => {
    expect(readContent("/proc/self/mountinfo", { limit: 10, keep: 10 })).toHaveProperty("problem");
  });

  it("ends in loops of links, in deep folders and among very many files", async () => {
    bed.link(".", ".oxbow/tools/again");
    bed.put(`.oxbow/plugins/${"d/".repeat(20)}x.ts`, "x");
    for (let index = 0; index < 2002; index++) bed.put(`.oxbow/prompts/${index}.md`, "x");
    const { items } = await bed.find();
    expect(items.filter(({ path }) => path.startsWith(".oxbow/prompts/"))).toHaveLength(2000);
    expect(await problems()).toEqual([
      `.oxbow/plugins/${"d/".repeat(8)}d lies more than 8 folders deep`,
      ".oxbow/prompts holds more than 2000 files",
    ]);
  });

  it("reports files that it may not read", async () => {
    bed.put("AGENTS.md", "x", 0o000);
    for (const folder of [bed.base, bed.folder]) chmodSync(folder, 0o755);
    // Root may read everything, so it reads as another user.
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) process.seteuid?.(NOBODY);
    try {
      expect(await problems()).toEqual(["AGENTS.md cannot be read (EACCES)"]);
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
  });

  it("keeps names as they are, whatever is in them", async () => {
    bed.program(".oxbow/tools/$(touch pwned)\n`x`");
    expect((await bed.find()).items[0]?.path).toBe(".oxbow/tools/$(touch pwned)\n`x`");
  });

  it("works through a link to the folder", async () => {
    bed.put("AGENTS.md", "x");
    bed.link(bed.folder, join(bed.base, "alias"));
    const { items } = await discoverContent({ folder: join(bed.base, "alias"), home: bed.home });
    expect(items[0]?.root).toBe(realpathSync(bed.folder));
  });
});
