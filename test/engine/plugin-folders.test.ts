/** Plugins of Claude Code as folders that the user names. */
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { reply } from "../../src/testkit/index.js";
import { HookProject } from "../support/hook-project.js";
import { verifies } from "../verifies.js";

let project: HookProject;
let folder: string;
beforeEach(() => {
  project = new HookProject();
  folder = join(project.home, "plugins/kit-folder");
});
afterEach(() => project.remove());

const bash = (command: string) => reply().tool("bash", { command });
const done = reply().text("Done.");
const put = (path: string, text: string, mode?: number) => project.put(join(folder, path), text, mode);
const ROOT = "$" + "{CLAUDE_PLUGIN_ROOT}";

function plugin(): void {
  put(
    ".claude-plugin/plugin.json",
    JSON.stringify({
      name: "kit",
      version: "1.0.0",
      agents: "./team",
      commands: ["./commands", "./more/", "../out"],
      unknown: 1,
    }),
  );
  put("commands/git/look.md", `---\ndescription: Look.\n---\nLook at $1 in ${ROOT}/data.\n`);
  put("skills/careful/SKILL.md", `---\nname: careful\ndescription: Be careful.\n---\nRead ${ROOT}/rules.md\n`);
  put("agents/unused.md", "---\nname: unused\ndescription: No.\n---\nNo.\n");
  put("team/scout.md", `---\nname: scout\ndescription: Looks around.\n---\nScout with ${ROOT}/map.\n`);
  const hook = { type: "command", command: `"${ROOT}/scripts/check.sh"` };
  put("hooks/hooks.json", JSON.stringify({ hooks: { PreToolUse: [{ matcher: "Bash", hooks: [hook] }] } }));
  put(
    "scripts/check.sh",
    "#!/bin/sh\ngrep -q forbidden && { echo 'The plugin says no.' >&2; exit 2; }\nexit 0\n",
    0o755,
  );
  put(
    "more/guarded.md",
    `---\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: echo ${ROOT} > stop.txt\n---\nGo.\n`,
  );
  const server = { command: `${ROOT}/server`, args: ["--data", `${ROOT}/db`] };
  put(".mcp.json", JSON.stringify({ mcpServers: { store: server } }));
}

verifies(["E1", "E3"], "a plugin brings commands, skills, agents, hooks and servers under its name", async () => {
  plugin();
  project.plugins = [folder];
  const start = reply().tool("agent", { type: "kit:scout", description: "look", prompt: "look" });
  await project.open([
    ...[bash("echo forbidden"), bash("echo fine"), done, done, done],
    ...[reply().tool("skill", { name: "kit:careful" }), start, reply().text("Looked."), done],
  ]);
  const first = await project.turn();
  expect(first.results[0]).toMatch(/^denied: .*The plugin says no/s);
  expect(first.results[1]).toMatch(/^ok: fine/);
  expect((await project.slashTurn("/kit:git:look src")).lastRequest).toContain(`Look at src in ${folder}/data.`);
  expect(project.read("stop.txt")).toBeUndefined();
  await project.slashTurn("/kit:guarded");
  expect(project.read("stop.txt")).toBe(`${folder}\n`);
  const second = await project.turn("again");
  expect(second.results[0]).toContain(`Read ${folder}/rules.md`);
  expect(second.results[1]).toMatch(/^ok: .*Looked\./s);
  expect(project.requests().some((body) => body.includes(`Scout with ${folder}/map.`))).toBe(true);
  expect(await project.slash("/sources")).toMatch(/plugins\/kit-folder \(yours\)/);
  expect(await project.slash("/mcp")).toContain("plugin_kit_store");
  expect(await project.slash("/agents")).not.toContain("unused");
});

verifies(["E1", "P14"], "a plugin in the profile waits for approval like all content", async () => {
  plugin();
  project.put(join(project.home, "config/config.toml"), 'plugins = ["~/plugins/kit-folder"]\n');
  await project.open([bash("echo forbidden"), done]);
  expect((await project.turn()).results).toEqual([expect.stringMatching(/^ok: forbidden/)]);
  expect(await project.slash("/sources")).toMatch(
    /event hook +hooks\.json: hooks\.PreToolUse +waits for your approval/,
  );
  expect(await project.slash("/kit:git:look src")).toMatch(/^refused/);
});

verifies(["E3"], "two plugins with the same line for a hook both run their program", async () => {
  const folders = ["one", "two"].map((name) => join(project.home, "plugins", name));
  for (const path of folders) {
    const hook = { type: "command", command: `${ROOT}/note.sh` };
    const hooks = { Stop: [{ hooks: [hook] }] };
    project.put(join(path, ".claude-plugin/plugin.json"), JSON.stringify({ hooks }));
    project.put(join(path, "note.sh"), `#!/bin/sh\necho ${path} >> notes.txt\n`, 0o755);
  }
  project.plugins = folders;
  await project.run([done]);
  expect(project.read("notes.txt")?.trim().split("\n").sort()).toEqual(folders);
});
