/** The events of Claude Code's hooks beyond turns and calls, through the real engine with the mock model. */
import { rmSync } from "node:fs";
import { afterEach, beforeEach, describe, expect } from "vitest";
import type { ModelName } from "../../src/protocol/events.js";
import type { CreatePart } from "../../src/runtime/part.js";
import { reply } from "../../src/testkit/index.js";
import { HookProject } from "../support/hook-project.js";
import { verifies } from "../verifies.js";

let project: HookProject;
beforeEach(() => {
  project = new HookProject();
});
afterEach(() => project.remove());

const done = reply().text("Done.");
const command = (line: string) => ({ type: "command", command: line });
/** Writes its input as a line of `seen`. */
const NOTE = 'printf "%s\\n" "$(cat)" >> "$CLAUDE_PROJECT_DIR/seen"';
const note = (more = "") => command(`${NOTE}${more}`);
const seen = () =>
  (project.read("seen") ?? "")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const todo = (...items: readonly (readonly [string, string])[]) =>
  reply().tool("todo", { todos: items.map(([text, status]) => ({ text, status })) });

describe("InstructionsLoaded", () => {
  verifies(["E3"], "names each instruction file that the model gets, and why", async () => {
    project.below = ["sub"];
    project.put(`${project.home}/config/config.toml`, 'context_sources = ["AGENTS.md", ".cursor/rules"]\n');
    project.put(".cursor/rules/all.mdc", "---\nalwaysApply: true\n---\nRules for all.\n");
    project.put(".cursor/rules/text.mdc", "---\nglobs: '*.txt'\n---\nRules for text.\n");
    project.put("sub/AGENTS.md", "Sub rules.\n\n@./more.md\n");
    project.put("sub/more.md", "More rules.");
    project.put("sub/a.txt", "a");
    project.settings({
      InstructionsLoaded: [
        { hooks: [note()] },
        { matcher: "nested_traversal", hooks: [command("cat > /dev/null; echo x >> nested")] },
      ],
    });
    await project.run([reply().tool("read", { path: "sub/a.txt" }), done]);
    const loads = seen().map(({ file_path, load_reason, memory_type, trigger_file_path, parent_file_path }) => ({
      ...{ file_path, load_reason, memory_type, trigger_file_path, parent_file_path },
    }));
    const trigger_file_path = project.path("sub/a.txt");
    const load = (path: string, load_reason: string, more: object = {}) => ({
      ...{ file_path: project.path(path), load_reason, memory_type: "Project", ...more },
    });
    const expected = [
      load(".cursor/rules/all.mdc", "session_start"),
      load("sub/AGENTS.md", "nested_traversal", { trigger_file_path }),
      load("sub/more.md", "include", { trigger_file_path, parent_file_path: project.path("sub/AGENTS.md") }),
      load(".cursor/rules/text.mdc", "path_glob_match", { trigger_file_path }),
    ];
    expect(loads).toHaveLength(expected.length);
    for (const each of expected) expect(loads).toContainEqual(expect.objectContaining(each));
    expect(project.read("nested")).toBe("x\n");
  });
});

describe("UserPromptExpansion", () => {
  verifies(["E3", "U6"], "sees a command that becomes a prompt, adds context, and can refuse it", async () => {
    project.put(".claude/commands/fix.md", "Fix $ARGUMENTS. !`touch ran`");
    project.put(".claude/skills/careful/SKILL.md", "---\nname: careful\ndescription: d\n---\nBe careful.");
    project.settings({
      UserPromptExpansion: [
        {
          matcher: "fix",
          hooks: [note("; grep -q no-way seen && { echo Not that. >&2; exit 2; }; echo Extra words.")],
        },
        { matcher: "careful", hooks: [note()] },
        { matcher: "short", hooks: [command("cat > /dev/null; echo No aliases. >&2; exit 2")] },
      ],
    });
    project.put(".oxbow/aliases.toml", '[aliases]\nshort = "Say it in few words."\n');
    await project.open([done, done]);
    const { lastRequest } = await project.slashTurn("/fix 7");
    expect(lastRequest).toContain("Fix 7.");
    expect(lastRequest).toContain("Extra words.");
    await project.slashTurn("/skills:careful now");
    expect(project.read("ran")).toBeDefined();
    const requests = project.requests().length;
    expect(await project.slash("/fix no-way")).toMatch(/^refused: .*A hook refused \/fix: Not that\./);
    expect(project.requests()).toHaveLength(requests);
    expect(await project.slash("/short")).toMatch(/^refused: .*No aliases\./);
    const facts = { hook_event_name: "UserPromptExpansion", expansion_type: "slash_command" };
    expect(seen()).toMatchObject([
      { ...facts, command_name: "fix", command_args: "7", command_source: "projectSettings", prompt: "/fix 7" },
      { ...facts, command_name: "careful", command_args: "now", prompt: "/skills:careful now" },
      { command_args: "no-way" },
    ]);
  });
});

describe("tasks", () => {
  verifies(["E3"], "a hook sees items that are new or done, and a refusal leaves the list as it was", async () => {
    project.settings({
      TaskCreated: [{ hooks: [note()] }],
      TaskCompleted: [{ hooks: [note("; [ -e tests-pass ] || { echo Run the tests first. >&2; exit 2; }")] }],
    });
    const { results } = await project.run([
      todo(["plan", "pending"], ["build", "pending"]),
      todo(["plan", "done"], ["build", "pending"]),
      reply().tool("write", { path: "tests-pass", content: "" }),
      todo(["plan", "done"], ["build", "in_progress"]),
      done,
    ]);
    expect(results[1]).toMatch(/^error: Not run: a hook refused it: Run the tests first\./);
    expect(results[3]).toMatch(/^ok:/);
    const [first, second, ...rest] = seen().map(({ hook_event_name, task_subject, task_id }) =>
      [hook_event_name, task_subject, task_id].join(" "),
    );
    expect([first, second].sort()).toEqual(["TaskCreated build 2", "TaskCreated plan 1"]);
    expect(rest).toEqual(["TaskCompleted plan 1", "TaskCompleted plan 1"]);
  });
});

describe("a change of the model", () => {
  verifies(["E3"], "can be refused before, and a hook tells the model after it", async () => {
    const asks = { hookSpecificOutput: { hookEventName: "PreModelSwitch", permissionDecision: "ask" } };
    project.settings({
      PreModelSwitch: [
        { matcher: "claude-haiku.*", hooks: [command("cat > /dev/null; echo Too small. >&2; exit 2")] },
        { matcher: "late", hooks: [{ ...command("exec sleep 20"), timeout: 0.2 }] },
        { matcher: "asked", hooks: [command(`cat > /dev/null; echo '${JSON.stringify(asks)}'`)] },
      ],
      PostModelSwitch: [{ hooks: [note("; echo You are another model now.")] }],
    });
    await project.open([done]);
    expect(await project.slash("/model anthropic:claude-haiku-4-5")).toMatch(/^refused: .*Too small\./);
    expect(await project.slash("/model anthropic:late")).toMatch(/^refused: .*did not end in time/);
    expect(await project.slash("/model anthropic:asked")).toMatch(/^refused: /);
    expect(await project.slash("/model anthropic:claude-opus-4-5")).toContain(
      "Model: anthropic:claude-opus-4-5, from the next turn on.",
    );
    const { lastRequest } = await project.turn();
    expect(lastRequest).toContain("You are another model now.");
    const names = { to_model: "claude-opus-4-5", requested_model: "anthropic:claude-opus-4-5" };
    expect(seen()).toEqual([
      expect.objectContaining({
        ...names,
        from_model: expect.any(String),
        source: "command",
        to_provider: "anthropic",
      }),
    ]);
  });
});

describe("a failover", () => {
  verifies(["E3", "M8"], "is a change of the model, too", async () => {
    project.settings({ PostModelSwitch: [{ matcher: "second", hooks: [note()] }] });
    const [from, to] = ["first", "second"].map((model) => ({ provider: "anthropic", model })) as [ModelName, ModelName];
    const failsOver: CreatePart = ({ bus }) => ({
      name: "fails over",
      hooks: {
        start: [
          {
            name: "50-fails-over",
            run: async ({ id: turn }): Promise<undefined> => {
              bus.publish("FailedOver", { turn, route: "r", from, to, reason: "Overloaded", message: "busy" });
            },
          },
        ],
      },
    });
    await project.open([done], { parts: [failsOver] });
    await project.turn();
    await project.close();
    expect(seen()).toMatchObject([{ from_model: "first", to_model: "second", source: "auto" }]);
  });
});

describe("MessageDisplay", () => {
  verifies(["E3"], "gets the text of each answer", async () => {
    project.settings({ MessageDisplay: [{ hooks: [note()] }] });
    await project.run([reply().text("I look.").tool("ls", {}), done]);
    expect(seen().map(({ delta }) => delta)).toEqual(["I look.", "Done."]);
    expect(seen()[1]).toMatchObject({ index: 0, final: true, turn_id: expect.stringMatching(/^turn_/) });
  });
});

describe("FileChanged", () => {
  verifies(["E3"], "names watched files that changed, and sets variables for later commands", async () => {
    project.put("other", "1");
    const watch = { hookSpecificOutput: { hookEventName: "SessionStart", watchPaths: [project.path("other")] } };
    project.settings({
      SessionStart: [{ hooks: [command(`cat > /dev/null; echo '${JSON.stringify(watch)}'`)] }],
      FileChanged: [
        { matcher: ".envrc|.env", hooks: [note('; echo "export STAGE=$(cat .env)" >> "$CLAUDE_ENV_FILE"')] },
        { hooks: [command('cat >> "$CLAUDE_PROJECT_DIR/all"')] },
      ],
    });
    const bash = (line: string) => reply().tool("bash", { command: line });
    const { results } = await project.run([
      bash("echo one > .env; echo 2 > other; echo 3 > unwatched"),
      bash("echo stage $STAGE; rm .env"),
      done,
    ]);
    expect(results[1]).toContain("stage one");
    const file_path = project.path(".env");
    expect(seen()).toMatchObject([
      { file_path, event: "add" },
      { file_path, event: "unlink" },
    ]);
    expect(project.read("all")).toContain(project.path("other"));
    expect(project.read("all")).not.toContain("unwatched");
  });
});

describe("worktrees", () => {
  const NAME = `name=$(sed -E 's/.*"name":"([^"]*)".*/\\1/')`;
  const agent = (prompt: string) => reply().tool("agent", { type: "worker", description: prompt, prompt });

  verifies(
    ["E3", "L17"],
    "a hook makes and removes them instead of git, a project's hook only in the project",
    async () => {
      project.put(".claude/agents/worker.md", "---\nname: worker\ndescription: d\nisolation: worktree\n---\nWork.\n");
      const make = command(`${NAME}; [ "$name" ] && mkdir -p "trees/$name" && echo made: && echo "$PWD/trees/$name"`);
      project.settings({ WorktreeCreate: [{ hooks: [make] }], WorktreeRemove: [{ hooks: [note()] }] });
      const { results } = await project.run([
        agent("write"),
        reply().tool("write", { path: "new.txt", content: "new" }),
        reply().text("written"),
        agent("look"),
        reply().text("looked"),
        done,
      ]);
      const [, folder = ""] = /written[\s\S]*in the folder (\S+)\./.exec(results[0] ?? "") ?? [];
      expect(project.read(`${folder}/new.txt`)).toBe("new");
      expect(results[1]).toContain("looked");
      const [removed, ...more] = seen().map(({ worktree_path }) => worktree_path);
      expect([removed !== folder, more]).toEqual([true, []]);
      expect(removed).toMatch(new RegExp(`^${project.folder}/trees/`));

      for (const line of [
        `mkdir -p ../apart; echo "$PWD/../apart"`,
        `echo "$PWD/.claude"`,
        `echo "$PWD"`,
        "exit 1",
        "echo nowhere",
      ]) {
        project.settings({ WorktreeCreate: [{ hooks: [command(`cat > /dev/null; ${line}`)] }] });
        const refused = await project.run([agent("write"), done]);
        expect(refused.results[0]).toMatch(/^error: The subagent did not start\. It needs a worktree, and the hook/);
      }
    },
  );
});

describe("ConfigChange", () => {
  verifies(["E3"], "sees approved files that change during a session, and can keep them out of it", async () => {
    project.put(".claude/commands/old.md", "Old words.");
    const refuse = "; tail -n 1 seen | grep -q bad && { echo Not now. >&2; exit 2; } || true";
    project.settings({
      ConfigChange: [
        { matcher: "project_settings", hooks: [note(refuse)] },
        { matcher: "skills", hooks: [command('cat > "$CLAUDE_PROJECT_DIR/skill"')] },
      ],
    });
    await project.open([done, done, done]);
    await project.turn();
    expect(seen()).toEqual([]);
    project.put(".claude/commands/good.md", "Good words.");
    project.put(".claude/commands/bad.md", "Bad words.");
    project.put(".claude/skills/careful/SKILL.md", "---\nname: careful\ndescription: d\n---\nBe careful.");
    rmSync(project.path(".claude/commands/old.md"));
    await project.approve();
    expect((await project.slashTurn("/good")).lastRequest).toContain("Good words.");
    expect(await project.slash("/bad")).toContain("There is no command /bad.");
    await project.turn();
    const changes = seen().map(({ source, file_path }) => [source, file_path].join(" "));
    const files = ["bad", "good", "old"].map(
      (name) => `project_settings ${project.path(`.claude/commands/${name}.md`)}`,
    );
    expect(changes.sort()).toEqual(files);
    expect(JSON.parse(project.read("skill") ?? "")).toMatchObject({
      source: "skills",
      hook_event_name: "ConfigChange",
    });
    expect(project.notes.join("\n")).toMatch(/A hook refused the change of .*bad\.md\. .*Not now\./);
  });
});

describe("Setup", () => {
  verifies(["E3"], "runs before the first prompt of a run that asks for it", async () => {
    const prepare = note("; echo export PREPARED=yes >> $CLAUDE_ENV_FILE; echo The project is ready.");
    project.settings({
      Setup: [
        { matcher: "maintenance", hooks: [prepare] },
        { matcher: "init", hooks: [command("touch init")] },
      ],
    });
    const script = [reply().tool("bash", { command: "echo prepared: $PREPARED" }), done];
    const { results, lastRequest } = await project.run(script, ["--maintenance", "--permission-mode", "allow"]);
    expect(results[0]).toContain("prepared: yes");
    expect(lastRequest).toContain("The project is ready.");
    expect(seen()).toMatchObject([{ hook_event_name: "Setup", trigger: "maintenance" }]);
    expect((await project.run(script)).results[0]).toMatch(/prepared: *$/);
    expect(project.read("init")).toBeUndefined();
  });
});
