/** Hooks in the front matter of skills and agent types, as Claude Code writes them. */
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
