/** Hooks in the front matter of skills, agent types and slash commands, as Claude Code writes them. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { reply } from "../../src/testkit/index.js";
import { HookProject } from "../support/hook-project.js";
import { verifies } from "../verifies.js";

let project: HookProject;

beforeEach(() => {
  project = new HookProject();
});
afterEach(() => project.remove());

const bash = (command: string) => reply().tool("bash", { command });
const done = reply().text("Done.");
const useSkill = (name: string) => reply().tool("skill", { name });

function document(fields: string, body = "Be careful."): string {
  return `---\n${fields.trim()}\n---\n${body}\n`;
}

const CAREFUL = document(`
name: careful
description: Work carefully.
hooks:
  PreToolUse:
    - matcher: "Bash"
      hooks:
        - type: command
          command: "cat > /dev/null; cat $CLAUDE_SKILL_DIR/reason.txt >&2; exit 2"
          timeout: 5
  PostToolUse:
    - matcher: Read
      hooks:
        - type: command
          command: echo once >> once.txt
          once: true
`);

describe("hooks of a skill", () => {
  verifies(["E3", "X3"], "run from the moment that the skill is in use until the session ends", async () => {
    project.put(".claude/skills/careful/SKILL.md", CAREFUL);
    project.put(".claude/skills/careful/reason.txt", "Not with this skill.");
    project.put("notes.txt", "notes");
    const read = reply().tool("read", { path: "notes.txt" });
    await project.open([
      bash("echo before"),
      useSkill("careful"),
      bash("echo after"),
      read,
      read,
      done,
      bash("id"),
      done,
      bash("echo anew"),
      done,
    ]);
    const first = await project.turn();
    expect(first.of("HookError")).toEqual([]);
    expect(first.results.map((text) => text.split(":")[0])).toEqual(["ok", "ok", "denied", "ok", "ok"]);
    expect(first.results[2]).toContain("Not with this skill.");
    expect(project.read("once.txt")).toBe("once\n");
    expect((await project.turn("again")).results[0]).toMatch(/^denied: .*Not with this skill/s);
    await project.clear();
    expect((await project.turn("anew")).results[0]).toMatch(/^ok: anew/);
  });

  verifies(["E3", "X3"], "run again when a session with the skill is resumed", async () => {
    project.put(".claude/skills/careful/SKILL.md", CAREFUL);
    project.put(".claude/skills/careful/reason.txt", "Not with this skill.");
    await project.open([useSkill("careful"), done]);
    const session = await project.session();
    await project.turn();
    await project.close();
    await project.open([bash("echo resumed"), done]);
    await project.session(session);
    expect((await project.turn()).results).toEqual([expect.stringMatching(/^denied/)]);
    await project.session();
  });

  verifies(["E3", "X3", "P14"], "do not run if only the words of the skill are approved", async () => {
    project.put(".claude/skills/careful/SKILL.md", CAREFUL);
    project.approves = (kind) => kind !== "event-hooks";
    const { results } = await project.run([useSkill("careful"), bash("echo hi"), done]);
    expect(results).toEqual([expect.stringContaining("Be careful."), expect.stringMatching(/^ok: hi/)]);
    expect(project.notes.join("\n")).toContain(".claude/skills/careful/SKILL.md: hooks.PreToolUse");
  });

  verifies(["E3", "X3"], "do not run if the settings turn all hooks off", async () => {
    project.put(".claude/skills/careful/SKILL.md", CAREFUL);
    project.put(join(project.home, ".claude/settings.json"), '{"disableAllHooks": true}');
    const { results } = await project.run([useSkill("careful"), bash("echo hi"), done]);
    expect(results[1]).toMatch(/^ok: hi/);
  });
});

describe("hooks of an agent type", () => {
  const GUARDED = (event: string) =>
    document(`
name: guarded
description: Looks around.
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - type: command
          command: echo 'Not as this agent.' >&2; exit 2
  ${event}:
    - hooks:
        - type: command
          command: grep -o '"hook_event_name":"[^"]*"' >> stops.txt
`);

  verifies(
    ["E3", "L17"],
    "run in the subagents of this type only, and its Stop is the end of the subagent",
    async () => {
      project.put(".claude/agents/guarded.md", GUARDED("Stop"));
      project.put(".claude/agents/free.md", document("name: free\ndescription: Looks around."));
      const start = (type: string) => reply().tool("agent", { type, description: "look", prompt: "look" });
      const { results } = await project.run([
        ...[bash("echo outer"), start("guarded"), bash("touch made"), reply().text("Looked.")],
        ...[start("free"), bash("touch free"), reply().text("Looked."), done],
      ]);
      expect(results[0]).toMatch(/^ok: outer/);
      expect(project.read("made")).toBeUndefined();
      expect(project.read("free")).toBe("");
      expect(project.read("stops.txt")).toBe('"hook_event_name":"SubagentStop"\n');
    },
  );
});

describe("hooks of a slash command", () => {
  const GUARDED = document(
    `
description: Look, but do not touch.
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - type: command
          command: echo 'Not in this command.' >&2; exit 2
  PostToolUse:
    - matcher: Read
      hooks:
        - type: command
          command: echo once >> once.txt
          once: true
  Stop:
    - hooks:
        - type: command
          command: echo stop >> stops.txt
  SessionEnd:
    - hooks:
        - type: command
          command: echo end >> stops.txt
`,
    "Look at $ARGUMENTS.",
  );
  const read = reply().tool("read", { path: "notes.txt" });

  verifies(["E3"], "run while the turn of the command runs, and only then", async () => {
    project.put(".claude/commands/git/look.md", GUARDED);
    project.put(".claude/commands/other.md", "Do something else.");
    symlinkSync("git/look.md", project.path(".claude/commands/linked.md"));
    project.put("notes.txt", "notes");
    await project.open([
      ...[bash("echo before"), done, bash("echo during"), read, read, done, bash("echo after"), done],
      ...[bash("echo other"), done, read, bash("echo linked"), done],
    ]);
    expect((await project.turn()).results).toEqual([expect.stringMatching(/^ok: before/)]);
    const during = await project.slashTurn("/git:look src");
    expect(during.lastRequest).toContain("Look at src.");
    expect(during.results.map((text) => text.split(":")[0])).toEqual(["denied", "ok", "ok"]);
    expect(during.results[0]).toContain("Not in this command.");
    expect([project.read("once.txt"), project.read("stops.txt")]).toEqual(["once\n", "stop\n"]);
    expect((await project.turn("again")).results).toEqual([expect.stringMatching(/^ok: after/)]);
    expect((await project.slashTurn("/other")).results).toEqual([expect.stringMatching(/^ok: other/)]);
    // A link to the file is the same command. `once` counts for the session.
    expect((await project.slashTurn("/linked")).results[1]).toMatch(/^denied: .*Not in this command/s);
    await project.close();
    expect([project.read("once.txt"), project.read("stops.txt")]).toEqual(["once\n", "stop\nstop\n"]);
  });

  verifies(
    ["E3"],
    "run for commands and templates of Oxbow, and not for prompts of Codex, whose format has none",
    async () => {
      project.put(".oxbow/commands/look.md", GUARDED);
      project.put(".oxbow/templates/frame.md", GUARDED);
      project.put(".codex/prompts/draft.md", GUARDED);
      await project.open([bash("id"), done, bash("id"), done, bash("echo draft"), done]);
      expect((await project.slashTurn("/look x")).results[0]).toMatch(/^denied: .*Not in this command/s);
      expect((await project.slashTurn("/template use frame x")).results[0]).toMatch(/^denied: .*Not in this command/s);
      expect((await project.slashTurn("/prompts:draft x")).results[0]).toMatch(/^ok: draft/);
      expect(await project.slash("/hooks")).toContain("only in the command /look");
    },
  );

  verifies(["E3", "P14"], "do not run if only the words of the command are approved", async () => {
    project.put(".claude/commands/look.md", GUARDED);
    project.approves = (kind) => kind !== "event-hooks";
    await project.open([bash("echo hi"), done]);
    expect((await project.slashTurn("/look x")).results).toEqual([expect.stringMatching(/^ok: hi/)]);
    expect(project.notes.join("\n")).toContain(".claude/commands/look.md: hooks.PreToolUse");
  });
});
