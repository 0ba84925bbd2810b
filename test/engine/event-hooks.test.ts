/** Event hooks through the real engine: files on disk, real processes, the mock model. */

import { afterEach, beforeEach, describe, expect } from "vitest";
import { reply } from "../../src/testkit/index.js";
import { HookProject } from "../support/hook-project.js";
import { needs } from "../support/needs.js";
import { survivors } from "../support/survivors.js";
import { verifies } from "../verifies.js";

let project: HookProject;
beforeEach(() => {
  project = new HookProject();
});
afterEach(() => project.remove());

const bash = (command: string) => reply().tool("bash", { command });
const done = reply().text("Done.");

/** A hook that prints this and ends with the code. */
const saying = (text: string, exit = 0) => ({
  type: "command",
  command: `cat > /dev/null; printf '%s' ${quoted(text)}${exit === 0 ? "" : ` >&2; exit ${exit}`}`,
});
const answering = (answer: object) => saying(JSON.stringify(answer));
const deciding = (permissionDecision: string, more: object = {}) =>
  answering({
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision,
      permissionDecisionReason: `I ${permissionDecision} it.`,
      ...more,
    },
  });

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

describe("hooks before a call", () => {
  verifies(["E3"], "exit code 2 blocks the call, and the model reads why", async () => {
    // Some editors begin a file with a mark of its encoding.
    const hooks = { PreToolUse: [{ matcher: "Bash", hooks: [saying("Use trash instead of rm.", 2)] }] };
    project.put(".claude/settings.json", `\uFEFF${JSON.stringify({ hooks })}`);
    const { results, lastRequest, of } = await project.run([bash("touch made; rm -rf x"), done]);
    expect(results).toEqual([expect.stringMatching(/^denied: .*hook PreToolUse.*Use trash instead of rm\./s)]);
    expect(lastRequest).toContain("Use trash instead of rm.");
    expect(of("PermissionResolved")).toEqual([
      expect.objectContaining({ decision: "deny", decided_by: "hook PreToolUse" }),
    ]);
    expect(project.read("made")).toBeUndefined();
  });

  verifies(["E3"], "only hooks whose matcher and condition fit run, by Claude's names and by Oxbow's", async () => {
    const note = (name: string) => ({ type: "command", command: `cat > /dev/null; echo ${name} >> ran.txt` });
    project.settings({
      PreToolUse: [
        { matcher: "Edit|Write", hooks: [note("edit")] },
        { matcher: "write", hooks: [note("own-name")] },
        { matcher: "Writ", hooks: [note("part")] },
        { matcher: "W.*e", hooks: [note("regex")] },
        { matcher: "mcp__.*", hooks: [note("mcp")] },
        { hooks: [{ ...note("if"), if: "Write(*.md)" }, { ...note("not-if"), if: "Write(*.ts)" }, note("all")] },
        // Settings files ignore it, as Claude Code does.
        { matcher: "*", hooks: [{ ...note("each"), once: true }] },
      ],
    });
    const { results } = await project.run([
      reply().tool("write", { path: "a.md", content: "x" }),
      reply().tool("write", { path: "b.md", content: "x" }),
      done,
    ]);
    expect(results).toHaveLength(2);
    const ran = project.read("ran.txt")?.trim().split("\n").sort();
    expect(ran).toEqual([
      "all",
      "all",
      "each",
      "each",
      "edit",
      "edit",
      "if",
      "if",
      "own-name",
      "own-name",
      "regex",
      "regex",
    ]);
  });

  verifies(["E3"], "gets the same fields as elsewhere on stdin, and no keys in its environment", async () => {
    project.settings({
      PreToolUse: [
        {
          matcher: "Edit",
          hooks: [{ type: "command", command: 'cat > "$CLAUDE_PROJECT_DIR/in.json"; env > env.txt' }],
        },
      ],
    });
    project.put("a.txt", "one\n");
    await project.run([reply().tool("edit", { path: "a.txt", edits: [{ old: "one", new: "two" }] }), done]);
    expect(JSON.parse(project.read("in.json") ?? "")).toMatchObject({
      session_id: expect.stringMatching(/^sess_/),
      transcript_path: expect.stringContaining("transcript.jsonl"),
      cwd: project.folder,
      permission_mode: "bypassPermissions",
      hook_event_name: "PreToolUse",
      tool_name: "Edit",
      tool_input: { file_path: project.path("a.txt"), old_string: "one", new_string: "two" },
      tool_use_id: expect.stringMatching(/^call_/),
    });
    const env = project.read("env.txt") ?? "";
    expect(env).toContain(`CLAUDE_PROJECT_DIR=${project.folder}`);
    expect(env).not.toMatch(/KEY=|TOKEN=/);
  });

  verifies(["E3"], "deny wins over ask, ask over allow, and a project's allow answers no question", async () => {
    project.settings({ PreToolUse: [{ hooks: [deciding("allow"), deciding("ask")] }] });
    const asked = await project.run([bash("touch made"), done], ["--permission-mode", "allow"]);
    expect(asked.results[0]).toMatch(/^denied: .*needs the user's permission.*I ask it\./s);
    project.settings({ PreToolUse: [{ hooks: [deciding("ask"), deciding("deny"), deciding("allow")] }] });
    const denied = await project.run([bash("touch made"), done], ["--permission-mode", "allow"]);
    expect(denied.results[0]).toContain("I deny it.");
    project.settings({ PreToolUse: [{ hooks: [deciding("allow")] }] });
    const own = await project.run([bash("touch made"), done], ["--permission-mode", "ask"]);
    expect(own.results[0]).toMatch(/^denied: .*needs the user's permission/s);
    expect(project.read("made")).toBeUndefined();
  });

  verifies(["E3", "P2"], "the user's own hook answers ordinary questions, never one about a guarded path", async () => {
    project.userSettings({ PreToolUse: [{ hooks: [deciding("allow")] }] });
    const { results, of } = await project.run(
      [bash("touch made"), reply().tool("write", { path: ".git/hooks/pre-commit", content: "x" }), done],
      ["--permission-mode", "ask"],
    );
    expect(results[0]).toMatch(/^ok/);
    expect(of("ToolResult")[0]?.decided_by).toBe("hook PreToolUse");
    expect(results[1]).toMatch(/^denied/);
    expect(project.read(".git/hooks/pre-commit")).toBeUndefined();
  });

  verifies(["E3", "P2"], "a changed input is checked again, by the permissions and by the other hooks", async () => {
    const changing = (command: string) => deciding("allow", { updatedInput: { command } });
    project.settings({ PreToolUse: [{ matcher: "Bash", hooks: [changing("touch changed")] }] });
    const changed = await project.run([bash("ls"), done]);
    expect(changed.results[0]).toContain("A hook changed the input of this call");
    expect(project.read("changed")).toBe("");
    // Reading needs no permission here; what the hook makes of it does.
    const judged = await project.run([bash("ls"), done], ["--permission-mode", "ask"]);
    expect(judged.results[0]).toMatch(/^denied/);
    const guard = { type: "command", command: "if grep -q 'rm -rf'; then echo 'no rm' >&2; exit 2; fi" };
    project.settings({ PreToolUse: [{ matcher: "Bash", hooks: [changing("rm -rf changed"), guard] }] });
    const guarded = await project.run([bash("ls"), done]);
    expect(guarded.results[0]).toContain("no rm");
    expect(project.read("changed")).toBe("");
    project.settings({ PreToolUse: [{ matcher: "Bash", hooks: [deciding("allow", { updatedInput: { path: 1 } })] }] });
    expect((await project.run([bash("ls"), done])).results[0]).toContain("Not run: a hook changed its input");
  });

  verifies(["E3"], "a patch is shown file by file", async () => {
    const guard = {
      type: "command",
      command: `if grep -q '"file_path":"[^"]*\\.env"'; then echo 'not .env' >&2; exit 2; fi`,
    };
    project.settings({ PreToolUse: [{ matcher: "Write|Edit", hooks: [guard] }] });
    const patch = ["*** Begin Patch", "*** Add File: a.txt", "+x", "*** Add File: .env", "+y", "*** End Patch"].join(
      "\n",
    );
    const { results } = await project.run([reply().tool("apply_patch", { patch }), done]);
    expect(results[0]).toContain("not .env");
    expect(project.read("a.txt")).toBeUndefined();
  });
});

describe("hooks after a call", () => {
  verifies(["E3"], "tell the model what is wrong, and see failures apart", async () => {
    project.settings({
      PostToolUse: [{ matcher: "Write", hooks: [saying("Line 1 is too long.", 2)] }],
      PostToolUseFailure: [
        {
          matcher: "Bash",
          hooks: [
            answering({ hookSpecificOutput: { hookEventName: "PostToolUseFailure", additionalContext: "Try make." } }),
          ],
        },
      ],
    });
    const { results } = await project.run([
      reply().tool("write", { path: "a.txt", content: "x" }),
      bash("exit 3"),
      done,
    ]);
    expect(results[0]).toMatch(/^ok: .*\[hook\] Line 1 is too long\./s);
    expect(results[1]).toMatch(/^error: .*\[hook\] Try make\./s);
    expect(project.read("a.txt")).toBe("x");
  });

  verifies(["E3"], "may end the turn", async () => {
    project.settings({ PostToolUse: [{ hooks: [answering({ continue: false, stopReason: "Enough for today." })] }] });
    const { of, requests } = await project.run([bash("true"), done]);
    expect(of("TurnEnded")).toEqual([
      expect.objectContaining({
        outcome: "stopped",
        failure: expect.objectContaining({ message: expect.stringContaining("Enough for today.") }),
      }),
    ]);
    expect(requests).toBe(1);
  });
});

describe("hooks around a turn", () => {
  verifies(["E3"], "add context at the start of a session and with an input, also after a resume", async () => {
    project.settings({
      SessionStart: [
        { matcher: "startup", hooks: [saying("The branch is main.")] },
        { matcher: "resume", hooks: [saying("Welcome back.")] },
      ],
      UserPromptSubmit: [
        {
          hooks: [
            answering({
              hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: "It is Monday." },
            }),
          ],
        },
      ],
    });
    await project.open([done, done, done]);
    const session = await project.session();
    const first = await project.turn("hello");
    expect(first.of("ContextAdded").map(({ source, text }) => [source, text])).toEqual([
      ["hook SessionStart", "The branch is main."],
      ["hook UserPromptSubmit", "It is Monday."],
    ]);
    expect(first.lastRequest).toMatch(/hello.*The branch is main\..*It is Monday\./);
    const second = await project.turn("more");
    expect(second.lastRequest.match(/The branch is main/g)).toHaveLength(1);
    await project.close();
    await project.open([done]);
    await project.session(session);
    const resumed = await project.turn("again");
    expect(resumed.lastRequest).toMatch(/hello.*The branch is main\..*It is Monday\..*again.*Welcome back\./);
  });

  verifies(["E3"], "a refused input never reaches the model", async () => {
    const guard = { type: "command", command: "if grep -q zebra; then echo 'No animals.' >&2; exit 2; fi" };
    project.settings({ UserPromptSubmit: [{ hooks: [guard] }] });
    await project.open([done, done]);
    const session = await project.session();
    const refused = await project.turn("about a zebra");
    expect(refused.requests).toBe(0);
    expect(refused.of("TurnEnded")[0]).toMatchObject({
      outcome: "stopped",
      failure: { message: expect.stringContaining("No animals.") },
    });
    expect((await project.turn("about a stone")).lastRequest).not.toContain("zebra");
    await project.close();
    await project.open([done]);
    await project.session(session);
    const resumed = await project.turn("and now?");
    expect(resumed.lastRequest).not.toContain("zebra");
    expect(resumed.lastRequest).toContain("about a stone");
  });

  verifies(["E3"], "a Stop hook continues the turn with its reason, and not forever", async () => {
    const untilMade = `if [ -f made ]; then exit 0; fi; jq=1; grep -o '"stop_hook_active":[a-z]*' >> stops.txt; echo 'Make the file.' >&2; exit 2`;
    project.settings({ Stop: [{ hooks: [{ type: "command", command: untilMade }] }] });
    const { of, lastRequest } = await project.run([
      reply().text("I am done."),
      bash("touch made"),
      reply().text("Now I am."),
    ]);
    expect(of("TurnEnded")[0]).toMatchObject({ outcome: "answered", text: "Now I am." });
    expect(lastRequest).toContain("Make the file.");
    expect(project.read("stops.txt")).toBe('"stop_hook_active":false\n');
    project.settings({ Stop: [{ hooks: [saying("Never.", 2)] }] });
    const endless = await project.run(Array.from({ length: 20 }, () => done));
    expect(endless.requests).toBe(9);
    expect(endless.of("TurnEnded")[0]?.outcome).toBe("answered");
    expect(endless.of("Notice")).toEqual([expect.objectContaining({ message: expect.stringContaining("8 times") })]);
  });

  verifies(["E3"], "run at the end of a session, at a question and around a compaction", async () => {
    const note = {
      type: "command",
      command: `grep -o '"\\(hook_event_name\\|trigger\\|reason\\|notification_type\\)":"[^"]*"' | tr '\\n' ' ' >> "$CLAUDE_PROJECT_DIR/moments.txt"; echo >> "$CLAUDE_PROJECT_DIR/moments.txt"`,
    };
    const group = [{ hooks: [note] }];
    project.settings({ Compact: group, PostCompact: group, SessionEnd: group, PermissionDenied: group });
    const long = "A long answer. ".repeat(400);
    await project.open([bash("touch made"), reply().text(long), reply().text("A summary."), done], {
      flags: ["--permission-mode", "ask"],
    });
    await project.turn("one");
    expect(await project.command("compact")).toMatchObject({ ok: true });
    await project.close();
    const moments = project.read("moments.txt") ?? "";
    expect(moments).toContain('"hook_event_name":"PreCompact" "trigger":"manual"');
    expect(moments).toContain('"hook_event_name":"PostCompact" "trigger":"manual"');
    expect(moments).toContain('"hook_event_name":"SessionEnd" "reason":"');
    expect(moments).toContain('"hook_event_name":"PermissionDenied"');
  });

  verifies(["E3"], "may refuse a compaction", async () => {
    project.settings({ PreCompact: [{ matcher: "manual", hooks: [saying("Keep everything.", 2)] }] });
    await project.open([reply().text("A long answer. ".repeat(400)), reply().text("A summary.")]);
    const { requests } = await project.turn("one");
    expect(JSON.stringify(await project.command("compact"))).toContain("Keep everything.");
    expect((await project.turn("two")).requests).toBe(requests + 1);
  });
});

verifies(["E3", "L17"], "a subagent has its own events, and the same guards around its calls", async () => {
  const log = (fields: string) => ({
    type: "command",
    command: `grep -o '"\\(hook_event_name\\|agent_type\\)":"[^"]*"' | tr '\\n' ' ' >> ${fields}; echo >> ${fields}`,
  });
  const events = ["SessionStart", "UserPromptSubmit", "SubagentStart", "SubagentStop", "Stop", "SessionEnd"];
  project.settings({
    ...Object.fromEntries(events.map((event) => [event, [{ hooks: [log("events.txt")] }]])),
    PreToolUse: [{ matcher: "Bash", hooks: [saying("Not here.", 2)] }],
  });
  const agent = reply().tool("agent", { type: "general", description: "look", prompt: "look around" });
  const { of } = await project.run([agent, bash("touch made"), reply().text("Looked."), done]);
  expect(of("TurnEnded")[0]?.text).toBe("Done.");
  expect(project.read("made")).toBeUndefined();
  expect(project.read("events.txt")?.trim().split(/ *\n/)).toEqual([
    '"hook_event_name":"SessionStart"',
    '"hook_event_name":"UserPromptSubmit"',
    '"agent_type":"general" "hook_event_name":"SubagentStart"',
    '"agent_type":"general" "hook_event_name":"SubagentStop"',
    '"hook_event_name":"Stop"',
    '"hook_event_name":"SessionEnd"',
  ]);
});

describe("hooks that are not as they should be", () => {
  verifies(["E3"], "are reported, and the turn continues", async () => {
    project.settings({
      PreToolUse: [
        {
          hooks: [
            { type: "command", command: "exit 7" },
            { type: "command", command: "sleep 60", timeout: 0.2 },
            saying('{"broken'),
            { type: "python", prompt: "Is it safe?" },
          ],
        },
      ],
      Preuse: [{ hooks: [saying("x")] }],
      postToolUse: [{ hooks: [saying("x")] }],
      SessionEnd: [{ hooks: [{ type: "prompt", prompt: "x" }] }],
      Stop: [{ hooks: [{ ...saying("x"), if: "Bash(git *)" }] }],
      TeammateIdle: [{ hooks: [saying("x")] }],
    });
    const { of, results } = await project.run([bash("echo hi"), done]);
    expect(results[0]).toMatch(/^ok: hi/);
    expect(of("HookTimeout")).toEqual([{ event: "PreToolUse", command: "sleep 60", timeout_ms: 200 }]);
    expect(
      of("HookError")
        .map(({ exit_code }) => exit_code)
        .sort(),
    ).toEqual([0, 7]);
    const notes = project.notes.filter((note) => note.startsWith("Hooks:"));
    expect(notes).toEqual([
      expect.stringContaining("a PreToolUse hook of the unknown type python does not run"),
      expect.stringContaining("there is no event Preuse, so its hooks do not run."),
      expect.stringContaining("there is no event postToolUse, so its hooks do not run. Did you mean PostToolUse?"),
      expect.stringContaining("a SessionEnd hook of type prompt does not run: this event takes no model calls"),
      expect.stringContaining('a Stop hook with "if" never runs'),
      expect.stringContaining("the event TeammateIdle does not happen in Oxbow: it has no teammates"),
    ]);
  });

  verifies(["E3"], "refuse with onFailure: block, also when they are late", async () => {
    project.settings({
      PreToolUse: [{ hooks: [{ type: "command", command: "sleep 60", timeout: 0.2, onFailure: "block" }] }],
    });
    const { results } = await project.run([bash("touch made"), done]);
    expect(results[0]).toMatch(/^denied: .*did not end in time/s);
  });

  verifies(["E3"], "cannot change the hooks of this session by editing their settings", async () => {
    const edit = {
      type: "command",
      command: `cat > /dev/null; echo '{"hooks": {}}' > .claude/settings.json; echo blocked >&2; exit 2`,
    };
    project.settings({ PreToolUse: [{ matcher: "Bash", hooks: [edit] }] });
    const { results } = await project.run([bash("true"), bash("true"), done]);
    expect(results).toEqual([expect.stringContaining("blocked"), expect.stringContaining("blocked")]);
  });
});

verifies(["E3", "E5"], "hooks of a profile count while the profile is in use", async () => {
  project.put(
    `${project.home}/config/profiles/review.toml`,
    `schema_version = 1\n[[hooks.PreToolUse]]\nmatcher = "Bash"\nhooks = [{ type = "command", command = "echo review only >&2; exit 2" }]\n`,
  );
  const allow = ["--permission-mode", "allow"];
  expect((await project.run([bash("true"), done], allow)).results[0]).toMatch(/^ok/);
  const reviewed = await project.run([bash("true"), done], [...allow, "--profile", "review"]);
  expect(reviewed.results[0]).toContain("review only");
});

verifies(["E3"], "a question is announced, and the user's answer to a hook's question counts", async () => {
  const notify = { type: "command", command: "cat >> asked.txt" };
  project.settings({
    Notification: [{ matcher: "permission_prompt", hooks: [notify] }],
    PreToolUse: [{ matcher: "Bash", hooks: [deciding("ask")] }],
  });
  await project.open([bash("touch made"), done], { answer: "allow_once" });
  const { of, results } = await project.turn();
  expect(of("PermissionRequested")).toEqual([expect.objectContaining({ reason: "I ask it." })]);
  expect(results[0]).toMatch(/^ok/);
  await expect.poll(() => project.read("asked.txt")).toMatch(/"notification_type":"permission_prompt"/);
});

verifies(["E3", "P2"], "a PermissionRequest hook answers for the user, or does not", async () => {
  const deciding = (behavior: string) =>
    answering({
      hookSpecificOutput: { hookEventName: "PermissionRequest", decision: { behavior, message: "By the book." } },
    });
  const ask = ["--permission-mode", "ask"];
  project.userSettings({ PermissionRequest: [{ matcher: "Bash", hooks: [deciding("allow")] }] });
  expect((await project.run([bash("touch made"), done], ask)).results[0]).toMatch(/^ok/);
  project.settings({ PermissionRequest: [{ matcher: "Bash", hooks: [deciding("deny")] }] });
  expect((await project.run([bash("touch other"), bash("ls"), done], ask)).results).toEqual([
    expect.stringContaining("By the book."),
    // This one asks no question without the hook.
    expect.stringMatching(/^ok/),
  ]);
  project.userSettings({});
  project.settings({ PermissionRequest: [{ matcher: "Bash", hooks: [deciding("allow")] }] });
  expect((await project.run([bash("touch other"), done], ask)).results[0]).toMatch(/^denied/);
  expect(project.read("other")).toBeUndefined();
});

verifies(["E3"], "a profile configures hooks, with milliseconds", async () => {
  project.put(
    `${project.home}/config/config.toml`,
    `[[hooks]]\nevent = "PreToolUse"\nmatcher = "bash"\ncmd = "echo not now >&2; exit 2"\ntimeout_ms = 60000\n`,
  );
  const { results } = await project.run([bash("true"), done]);
  expect(results[0]).toContain("not now");
});

needs("sandbox").describe("the sandbox", () => {
  verifies(["E3", "P8"], "holds a project's hooks and not the user's own", async () => {
    const sleeping = `hook-in-sandbox-${process.pid}`;
    const leaving = `echo x > made; echo x > "$HOME/from-project"; (setsid bash -c 'exec -a ${sleeping} sleep 60' > /dev/null 2>&1 &); cat`;
    project.settings({
      PostToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: `${leaving} > in.json` }] }],
    });
    project.userSettings({ PostToolUse: [{ hooks: [{ type: "command", command: "cat > ~/from-user" }] }] });
    const flags = ["--permission-mode", "allow", "--sandbox", "required"];
    const { results, of } = await project.run([bash("true"), done], flags);
    expect(results).toEqual(["ok: (no output)"]);
    expect(of("HookTimeout")).toEqual([]);
    expect(project.read("made")).toBe("x\n");
    expect(project.read("in.json")).toContain('"tool_name":"Bash"');
    expect(project.read(`${project.home}/from-user`)).toContain('"tool_name":"Bash"');
    expect(project.read(`${project.home}/from-project`)).toBeUndefined();
    expect(survivors(sleeping)).toEqual([]);
  });
});
