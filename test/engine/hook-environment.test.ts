/** Variables that SessionStart hooks write to CLAUDE_ENV_FILE for later commands. */
import { afterEach, beforeEach, expect } from "vitest";
import { reply } from "../../src/testkit/index.js";
import { HookProject } from "../support/hook-project.js";
import { verifies } from "../verifies.js";

let project: HookProject;

beforeEach(() => {
  project = new HookProject();
});
afterEach(() => project.remove());

const bash = (command: string, more: object = {}) => reply().tool("bash", { command, ...more });
const done = reply().text("Done.");
const group = (command: string) => [{ hooks: [{ type: "command", command }] }];
const SHOW = 'echo "[$MINE] [$OURS] [$NODE_OPTIONS] [$CLAUDE_ENV_FILE] [${PATH##*:}]"';

verifies(
  ["E3", "P8"],
  "variables of hooks reach the commands of the session, those of a project only in the sandbox",
  async () => {
    const secret = `DEPLOY_${"TOKEN"}`;
    project.userSettings({
      SessionStart: group(
        `echo hello; echo 'export MINE="of $HOME" PATH="$PATH:/opt/mine/bin"' >> "$CLAUDE_ENV_FILE"; echo 'export ${secret}=x' >> "$CLAUDE_ENV_FILE"`,
      ),
    });
    project.settings({
      SessionStart: group(
        `echo "export OURS=ours NODE_OPTIONS=-v" >> $CLAUDE_ENV_FILE; echo "source x.sh" >> $CLAUDE_ENV_FILE`,
      ),
      PreToolUse: group('echo "[$CLAUDE_ENV_FILE]" >> files.txt'),
    });
    const agent = reply().tool("agent", { type: "general", description: "look", prompt: "look" });
    const replies = [bash(SHOW), bash(SHOW, { outside_sandbox: true }), agent, bash(`${SHOW} > made.txt`), done, done];
    await project.open(replies, { flags: ["--permission-mode", "allow", "--sandbox", "auto"], answer: "allow_once" });
    const { results, of } = await project.turn();
    const { home } = project;
    expect(results[0]).toContain(`[of ${home}] [ours] [] [] [/opt/mine/bin]`);
    expect(results[1]).toContain(`[of ${home}] [] [] [] [/opt/mine/bin]`);
    expect(project.read("made.txt")).toContain("[ours]");
    expect(project.read("files.txt")).toMatch(/^(\[\]\n)+$/);
    expect(of("ContextAdded")).toMatchObject([{ source: "hook SessionStart", text: "hello" }]);
    const notes = project.notes.join("\n");
    expect(notes).toContain(`not added for commands: ${secret}`);
    expect(notes).toContain("not added for commands: NODE_OPTIONS");
    expect(notes).toContain("left out: source x.sh");
  },
);
