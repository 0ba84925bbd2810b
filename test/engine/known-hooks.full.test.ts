/**
 * Hook configurations as people publish them for Claude Code and Codex, in our own words: the settings are of the usual shapes, and what they
 * would start from the network is a script here.
 */

import { execFileSync } from "node:child_process";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { reply } from "../../src/testkit/index.js";
import { HookProject } from "../support/hook-project.js";
import { skipWithout } from "../support/needs.js";
import { verifies } from "../verifies.js";

let project: HookProject;
beforeEach(() => {
  project = new HookProject();
});
afterEach(() => project.remove());

const bash = (command: string) => reply().tool("bash", { command });
const write = (path: string, content: string) => reply().tool("write", { path, content });
const done = reply().text("Done.");
const command = (text: string, more: object = {}) => ({ type: "command", command: text, ...more });
/** Stands for jq in the commands below, where the machine may lack it: prints one field. */
const FIELD = `'${process.execPath}' -e 'let d = JSON.parse(require("fs").readFileSync(0, "utf8"));
for (const k of process.argv[1].split(".")) d = d?.[k] ?? "";
console.log(String(d))'`;

describe("configurations of others work unchanged", () => {
  verifies(["E3"], "1: a formatter after each edit", async () => {
    project.put(
      ".claude/hooks/format.sh",
      `#!/bin/bash\nfile=$(${FIELD} tool_input.file_path)\n[[ $file == *.js ]] && sed -i 's/  */ /g' "$file"\nexit 0\n`,
      0o755,
    );
    const hooks = [command('"$CLAUDE_PROJECT_DIR"/.claude/hooks/format.sh', { timeout: 30 })];
    project.settings({ PostToolUse: [{ matcher: "Edit|MultiEdit|Write", hooks }] });
    const edit = reply().tool("edit", { path: "a.js", edits: [{ old: "let a = 1", new: "let a = 2" }] });
    await project.open([write("a.js", "let   a  =   1\n"), write("b.md", "a   b"), edit, done]);
    const { results } = await project.turn();
    expect([project.read("a.js"), project.read("b.md")]).toEqual(["let a = 2\n", "a   b"]);
    expect(results[0]).toContain("[hook] A hook changed a.js after this call.");
    expect(results[2]).toContain("The file had changed since you read it");
    // Undo takes back the hook's change with the call's.
    expect(await project.slash("/undo yes")).toContain("Reverted");
    expect(project.read("a.js")).toBeUndefined();
  });

  verifies(["E3"], "2: dangerous commands are blocked by a Python validator", async (context) => {
    skipWithout(context, "python3");
    project.put(
      ".claude/hooks/validate.py",
      `import json, re, sys
try:
    data = json.load(sys.stdin)
except json.JSONDecodeError as error:
    print(f"Error: {error}", file=sys.stderr)
    sys.exit(1)
if data.get("tool_name") != "Bash":
    sys.exit(0)
rules = [(r"\\brm\\s+-[a-z]*r[a-z]*f|\\brm\\s+-[a-z]*f[a-z]*r", "rm -rf is not allowed here"), (r"^grep\\b(?!.*\\|)", "Use rg instead of grep")]
issues = [text for pattern, text in rules if re.search(pattern, data["tool_input"].get("command", ""))]
if issues:
    for issue in issues:
        print(f"• {issue}", file=sys.stderr)
    sys.exit(2)
`,
    );
    project.settings({ PreToolUse: [{ matcher: "Bash", hooks: [command("python3 .claude/hooks/validate.py")] }] });
    const { results } = await project.run([bash("rm -fr build"), bash("grep x y"), bash("echo fine"), done]);
    expect(results).toEqual([
      expect.stringContaining("rm -rf is not allowed here"),
      expect.stringContaining("Use rg instead of grep"),
      expect.stringMatching(/^ok: fine/),
    ]);
  });

  verifies(["E3"], "3: secrets and lock files are protected from edits", async (context) => {
    skipWithout(context, "python3");
    const script = `python3 -c "import json, sys; p = json.load(sys.stdin).get('tool_input', {}).get('file_path', ''); sys.exit(2 if any(x in p for x in ['.env', 'package-lock.json', '.git/']) else 0)"`;
    project.settings({ PreToolUse: [{ matcher: "Edit|Write", hooks: [command(script)] }] });
    const { results } = await project.run([write(".env.local", "A=1"), write("src/a.ts", "x"), done]);
    expect(results[0]).toContain("denied");
    expect([project.read(".env.local"), project.read("src/a.ts")]).toEqual([undefined, "x"]);
  });

  verifies(["E3"], "4: each command is logged to a file of the user", async () => {
    const log = `${FIELD} tool_input.command >> ~/.claude/bash-commands.txt`;
    project.userSettings({ PreToolUse: [{ matcher: "Bash", hooks: [command(log)] }] });
    await project.run([bash("echo one"), bash("echo two"), done]);
    expect(project.read(`${project.home}/.claude/bash-commands.txt`)).toBe("echo one\necho two\n");
  });

  verifies(["E3"], "5: a desktop notification when a permission is needed and when the turn ends", async () => {
    const notify = project.put(
      `${project.home}/bin/notify`,
      `#!/bin/sh\ncat > /dev/null\necho "$@" >> ${project.home}/shown.txt\n`,
      0o755,
    );
    project.userSettings({
      Notification: [{ matcher: "", hooks: [command(`${notify} 'Awaiting your input'`)] }],
      Stop: [{ hooks: [command(`${notify} finished`, { async: true })] }],
    });
    await project.open([done]);
    await project.turn();
    await expect.poll(() => project.read(`${project.home}/shown.txt`)).toBe("finished\n");
  });

  verifies(["E3"], "6: context of the repository at the start of a session", async () => {
    const git = (...args: string[]) => execFileSync("git", args, { cwd: project.folder, stdio: "ignore" });
    git("init", "-q", "-b", "trunk");
    project.settings({
      SessionStart: [
        {
          matcher: "startup|resume",
          hooks: [command("echo '## Status'; git branch --show-current; git status --short | head -20")],
        },
      ],
    });
    const { lastRequest } = await project.run([done]);
    expect(lastRequest).toContain("## Status\\ntrunk\\n");
  });

  verifies(["E3"], "7: the tests run before the turn may end", async () => {
    project.put("run-tests", "#!/bin/sh\n[ -f fixed ] && exit 0\necho '1 failing: sum'\nexit 1\n", 0o755);
    project.put(
      ".claude/hooks/stop.sh",
      `#!/bin/bash
input=$(cat)
if [ "$(echo "$input" | ${FIELD} stop_hook_active)" = "true" ]; then exit 0; fi
if ! output=$(./run-tests 2>&1); then
  printf '{"decision": "block", "reason": "Tests fail: %s"}' "$output"
fi
`,
      0o755,
    );
    project.settings({ Stop: [{ hooks: [command("$CLAUDE_PROJECT_DIR/.claude/hooks/stop.sh", { timeout: 120 })] }] });
    const { lastRequest, of } = await project.run([
      reply().text("All done."),
      bash("touch fixed"),
      reply().text("Fixed."),
    ]);
    expect(lastRequest).toContain("Tests fail: 1 failing: sum");
    expect(of("TurnEnded")[0]?.text).toBe("Fixed.");
  });

  verifies(["E3"], "8: the main branch is protected from commits and pushes", async () => {
    execFileSync("git", ["init", "-q", "-b", "main"], { cwd: project.folder, stdio: "ignore" });
    const guard = `[ "$(git branch --show-current)" != "main" ] || { echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "Create a branch first."}}'; exit 0; }`;
    project.settings({
      PreToolUse: [
        {
          matcher: "Bash",
          hooks: [command(guard, { if: "Bash(git commit *)" }), command(guard, { if: "Bash(git push *)" })],
        },
      ],
    });
    const { results } = await project.run([bash("git add . && git commit -m x"), bash("git status --short"), done]);
    expect(results[0]).toContain("Create a branch first.");
    expect(results[1]).toMatch(/^ok/);
  });

  verifies(["E3"], "9: one program for all events, started through a runner, keeps JSON logs", async (context) => {
    skipWithout(context, "python3");
    project.put(
      ".claude/hooks/log.py",
      `import json, pathlib, sys
data = json.load(sys.stdin)
path = pathlib.Path("logs") / f"{data['hook_event_name']}.json"
path.parent.mkdir(exist_ok=True)
entries = json.loads(path.read_text()) if path.exists() else []
if data["hook_event_name"] == "Stop" and "--chat" in sys.argv:
    data["chat"] = [json.loads(line) for line in open(data["transcript_path"]) if line.strip()]
entries.append(data)
path.write_text(json.dumps(entries))
print(json.dumps({"suppressOutput": True}))
`,
    );
    const uv = project.put(`${project.home}/bin/uv`, '#!/bin/sh\n[ "$1" = run ] && shift\nexec python3 "$@"\n', 0o755);
    const group = (...flags: string[]) => [
      { matcher: "", hooks: [command(`${uv} run .claude/hooks/log.py ${flags.join(" ")}`)] },
    ];
    const events = ["PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "SessionEnd"];
    project.settings({ ...Object.fromEntries(events.map((event) => [event, group()])), Stop: group("--chat") });
    const { of } = await project.run([bash("echo hi"), reply().text("Said hi.")]);
    expect(of("HookError")).toEqual([]);
    const log = (event: string) => JSON.parse(project.read(`logs/${event}.json`) ?? "[]")[0];
    expect(log("PostToolUse")).toMatchObject({
      tool_name: "Bash",
      tool_response: { stdout: "hi", interrupted: false },
    });
    expect(log("UserPromptSubmit")).toMatchObject({ prompt: "go" });
    expect(log("SessionStart")).toMatchObject({ source: "startup" });
    expect(log("SessionEnd")).toMatchObject({ reason: "other" });
    expect(log("Stop")).toMatchObject({ last_assistant_message: "Said hi.", stop_hook_active: false });
    expect(JSON.stringify(log("Stop").chat)).toMatch(/"name":"bash".*Said hi\./);
  });

  verifies(
    ["E3"],
    "10: Codex' hooks.json: a policy for commands and patches, and prompts with keys refused",
    async () => {
      project.put(
        ".codex/hooks.json",
        JSON.stringify({
          hooks: {
            PreToolUse: [
              {
                matcher: "^Bash$",
                hooks: [
                  command("grep -q '\"command\":\"[^\"]*sudo' && { echo 'No sudo.' >&2; exit 2; }; exit 0", {
                    statusMessage: "Checking",
                  }),
                ],
              },
              {
                matcher: "apply_patch",
                hooks: [command("grep -q vendor && { echo 'vendor is generated.' >&2; exit 2; }; exit 0")],
              },
            ],
            UserPromptSubmit: [
              {
                hooks: [
                  command(
                    `grep -Eq 'AKIA[0-9A-Z]{16}' && echo '{"decision": "block", "reason": "A key is in the prompt."}'; exit 0`,
                  ),
                ],
              },
            ],
          },
        }),
      );
      const patch = ["*** Begin Patch", "*** Add File: vendor/a.txt", "+x", "*** End Patch"].join("\n");
      await project.open([bash("sudo ls"), reply().tool("apply_patch", { patch }), done]);
      expect((await project.turn()).results).toEqual([
        expect.stringContaining("No sudo."),
        expect.stringContaining("vendor is generated."),
      ]);
      const key = `AKIA${"ABCDEFGH".repeat(2)}`;
      expect((await project.turn(`use ${key}`)).of("TurnEnded")[0]).toMatchObject({ outcome: "stopped" });
    },
  );

  verifies(["E3"], "11: shell lines that read variables, print remarks and end with code 1", async () => {
    const guard =
      'GUARDED=(\'*/vendor/*\' \'*.lock\'); for pattern in "${GUARDED[@]}"; do if [[ "$CLAUDE_TOOL_FILE_PATH" == $pattern ]]; then echo "Error: $CLAUDE_TOOL_FILE_PATH is generated" >&2; exit 1; fi; done';
    const stamp =
      'if [[ "$CLAUDE_TOOL_FILE_PATH" == *.py && "$CLAUDE_TOOL_NAME" == "Write" ]]; then echo "# checked" >> "$CLAUDE_TOOL_FILE_PATH"; fi';
    const budget = `bash -c 'input=$(cat); FILE=$(echo "$input" | ${FIELD.replaceAll("'", "'\\''")} tool_input.file_path); OK=$(echo "$input" | ${FIELD.replaceAll("'", "'\\''")} tool_response.success); if [ "$OK" = "true" ]; then echo "size of $FILE" >> "$CLAUDE_PROJECT_DIR/sizes.txt"; fi'`;
    project.settings({
      PreToolUse: [
        { matcher: "Edit|MultiEdit|Write", hooks: [command(guard)] },
        {
          matcher: "Bash",
          hooks: [command("echo '🔔 About to run a command'; echo \"$CLAUDE_TOOL_COMMAND\" >> ran.txt")],
        },
      ],
      PostToolUse: [
        { matcher: "Write", hooks: [command(stamp), command(budget, { timeout: 15, description: "sizes" })] },
        { matcher: "Bash(git commit:*)", hooks: [command("touch never")] },
      ],
    });
    const { results, of } = await project.run([write("a.py", "x = 1\n"), write("a.lock", "1"), bash("echo hi"), done]);
    expect(results.map((result) => result.split(":")[0])).toEqual(["ok", "ok", "ok"]);
    expect(of("HookError")).toMatchObject([{ event: "PreToolUse", exit_code: 1 }]);
    expect(project.read("a.py")).toBe("x = 1\n# checked\n");
    expect(project.read("ran.txt")).toBe("echo hi\n");
    expect(project.read("sizes.txt")).toContain(`size of ${project.path("a.py")}`);
    expect(project.read("never")).toBeUndefined();
  });

  verifies(["E3"], "12: a review in the background after certain commands, which wakes the model", async () => {
    const review = command("cat > /dev/null; echo 'A key is in the commit.' >&2; touch reviewed; exit 2", {
      ...{ if: "Bash(git commit:*)", asyncRewake: true, rewakeSummary: "Review found issues" },
      rewakeMessage: "Background review of the commit:",
    });
    project.settings({
      PostToolUse: [{ matcher: "Bash", hooks: [review] }],
      SessionStart: [
        {
          matcher: "startup|clear|compact",
          hooks: [
            command(
              `cat > /dev/null; printf '{"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "%s"}}' "You have skills."`,
              { shell: "bash", async: false },
            ),
          ],
        },
      ],
      UserPromptSubmit: [{ hooks: [command("[ -e more ] && until [ -e reviewed ]; do sleep 0.02; done; exit 0")] }],
    });
    await project.open([bash("echo other"), bash("git commit -m x; touch more"), ...Array(12).fill(done)]);
    await project.turn();
    const isWoken = () => project.requests().some((body) => body.includes("A key is in the commit."));
    for (let turns = 0; turns < 10 && !isWoken(); turns++) await project.turn("more");
    expect(project.requests().at(-1)).toMatch(/Background review of the commit:\\n\\nA key is in the commit\./);
    expect(project.requests()[0]).toContain("You have skills.");
  });
});
