import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { parseLine } from "../../commands/arguments.js";
import type { CommandContext } from "../../feature/command.js";
import { parseFlags } from "../../feature/flags.js";
import { Testbed } from "../../security/trust/test-support/testbed.js";
import { loadSettings } from "../settings/settings.js";
import { programsOf, sourceCommands } from "./sources.js";

let bed: Testbed;
beforeEach(() => {
  bed = new Testbed();
});
afterEach(() => bed.remove());

async function place() {
  const variables = { OXBOW_HOME: join(bed.base, "home"), HOME: join(bed.base, "home") };
  return { loaded: await loadSettings(parseFlags([], [], ""), variables), variables, root: bed.folder };
}

async function show(name: string): Promise<string> {
  const command = sourceCommands(await place()).find((each) => each.name === name || each.aliases?.includes(name));
  if (command === undefined) throw new Error(name);
  const args = parseLine(command, "");
  if ("failure" in args) throw new Error(args.failure.message);
  const result = await command.run(args, { surface: "slash" } as CommandContext);
  return "text" in result ? result.text : result.failure.message;
}

verifies(
  ["E1"],
  "oxbow sources, hooks and tools show the files, which one hides another, and which wait for approval",
  async () => {
    expect(await show("sources")).toBe("No folder here holds extensions.");
    bed.program(join(bed.config, "tools/hello"));
    bed.program(".oxbow/tools/hello.py");
    bed.program(".oxbow/hooks.d/assemble/30-instructions");
    await bed.approveAll();
    bed.program(".oxbow/hooks.d/start/20-new");
    bed.program(".oxbow/tools/esc\u001b[2J");
    bed.put(".mcp.json", '{"mcpServers": {"search": {"command": "x"}}}');
    bed.link("/etc/passwd", ".oxbow/tools/out");
    const sources = await show("sources");
    expect(sources).toContain("~/config (yours)\n");
    expect(sources).toMatch(/tool +hello +approved; hidden by \.\/\.oxbow\/tools\/hello\.py/);
    expect(sources).toMatch(
      /hook +start\/20-new +waits for your approval; off: 'sources allow' or --allow-project-hooks runs it/,
    );
    expect(sources).toMatch(/MCP server +\.mcp\.json: mcp_servers\.search +waits/);
    expect(sources).toContain("./.oxbow/tools/out leads out of the folder");
    expect(sources).toContain("3 waiting: 'oxbow ack' shows and approves them.");
    expect(sources).not.toContain("\u001b");
    const hooks = await show("hooks");
    expect(hooks).toMatch(/30-instructions +built in; replaced/);
    expect(hooks).toMatch(/30-instructions +\.\/\.oxbow\/.*approved; off: .* runs it; replaces the built-in one/);
    expect(hooks).toMatch(/start\n.*05-edited-conversation +built in\n/);
    const tools = await programsOf("tool", await place());
    expect(tools.map(({ line }) => line).join("\n")).toMatch(/hello +\.\/\.oxbow\/tools\/hello\.py +approved; off: /);
  },
);

verifies(["E1", "P14"], "oxbow sources allow runs approved programs of the project until it is revoked", async () => {
  bed.program(".oxbow/tools/hello");
  await bed.approveAll();
  expect(await show("sources")).toMatch(/hello +approved; off: 'sources allow'/);
  expect(await show("sources:revoke")).toContain("run only with --allow-project-hooks already.");
  expect(await show("sources:allow")).toContain("run from now on; /sources revoke takes it back.");
  const allowed = await show("sources");
  expect(allowed).toMatch(
    /^Approved programs of this project run since \d{4}-\d\d-\d\d: \/sources revoke takes it back\.\n/,
  );
  expect(allowed).toMatch(/hello +approved$/m);
  expect(await show("sources:revoke")).toContain("run only with --allow-project-hooks again.");
  expect(await show("sources")).toMatch(/hello +approved; off: /);
});

verifies(["E3"], "oxbow hooks shows event hooks with their files, approved or not", async () => {
  const hook = (command: string) => [
    {
      matcher: "Bash",
      hooks: [
        { type: "command", command },
        { type: "http", url: "x" },
      ],
    },
  ];
  bed.put(".claude/settings.json", JSON.stringify({ hooks: { PreToolUse: hook("check\u001b[2J") } }));
  await bed.approveAll();
  bed.put(join(bed.base, "home/.claude/settings.json"), JSON.stringify({ hooks: { Stop: hook("notify-send done") } }));
  const hooks = await show("hooks");
  expect(hooks).toMatch(
    /PreToolUse Bash: check\S*\n {2}\.\/\.claude\/settings\.json; approved; off: .*; 30 s; in the sandbox/,
  );
  expect(hooks).toMatch(
    /Stop \*: notify-send done\n {2}~\/\.claude\/settings\.json; approved; 5 s; outside the sandbox/,
  );
  expect(hooks).toContain("the url of a Stop hook is not an address");
  expect(hooks).not.toContain("\u001b");
});

verifies(["E1", "X1"], "oxbow sources shows which instruction files are read, and which not and why", async () => {
  bed.put("AGENTS.md", "Read @./docs/style.md");
  bed.put("docs/style.md", "Use tabs.");
  bed.put(join(bed.base, "home/.claude/CLAUDE.md"), "mine");
  await bed.approveAll();
  bed.put("CLAUDE.md", "Use blanks.");
  bed.put("GEMINI.md", "Read @./docs/style.md");
  bed.put(".cursor/rules/a.mdc", "Be short.");
  bed.link("AGENTS.md", "QWEN.md");
  const sources = await show("sources");
  expect(sources).toMatch(/^instruction files\n {2}\.\/AGENTS\.md/m);
  expect(sources).toMatch(/\.\/AGENTS\.md +read$/m);
  expect(sources).toMatch(/\.\/docs\/style\.md +.*included by another one$/m);
  expect(sources).toMatch(/\.\/CLAUDE\.md +not read: not in context_sources$/m);
  expect(sources).toMatch(/\.\/GEMINI\.md +not read: the same text as AGENTS\.md$/m);
  expect(sources).toMatch(/~\/\.claude\/CLAUDE\.md +not read: a file of another tool/);
  expect(sources).toContain('context_sources = ["AGENTS.md", "CLAUDE.md", ".cursor/rules"] in ');
  expect(sources).not.toContain("QWEN.md");
  bed.put("AGENTS.md", "Changed.");
  expect(await show("sources")).toMatch(/\.\/AGENTS\.md +waits for your approval$/m);
});
