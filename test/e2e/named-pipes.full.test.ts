/** Named pipes at every name that Oxbow, git or ripgrep reads in a project: nothing waits for a writer. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { oxbow } from "../support/program.js";
import { verifies } from "../verifies.js";

const NAMES = [
  ...".gitignore .ignore .rgignore .gitattributes .gitmodules .mailmap sub/.gitignore .git/info/exclude .git/commondir".split(
    " ",
  ),
  ..."AGENTS.md CLAUDE.md GEMINI.md sub/AGENTS.md .cursorrules .cursor/rules/r.mdc .github/copilot-instructions.md".split(
    " ",
  ),
  ...".env .npmrc .mcp.json .cursor/mcp.json .vscode/mcp.json .codex/config.toml package.json Makefile README.md".split(
    " ",
  ),
  ...".claude/settings.json .claude/settings.local.json .claude/commands/x.md .claude/agents/y.md .claude/skills/z/SKILL.md".split(
    " ",
  ),
  ...".agents/skills/q/SKILL.md .oxbow/config.toml .oxbow/mcp.json .oxbow/skills/a/SKILL.md .oxbow/commands/c.md".split(
    " ",
  ),
  ...".oxbow/agents/d.md .oxbow/tools/t.sh .oxbow/providers/p.conf .oxbow/memory/m.md .oxbow/AGENTS.md notes.md".split(
    " ",
  ),
];

const LINES = `search for needle
git status
/skills
/mcp
/memory
/hooks
/agents
/permissions
/context
/security
/kb import notes.md
/help
`;

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "named-pipes-")));
  execFileSync("git", ["init", "-q"], { cwd: root });
  for (const name of NAMES) mkdirSync(dirname(join(root, name)), { recursive: true });
  rmSync(join(root, ".git/info/exclude"), { force: true });
  execFileSync("mkfifo", NAMES, { cwd: root });
  writeFileSync(join(root, "a.txt"), "a needle\n");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

verifies(["P8", "U1"], "named pipes at the names that are read keep no start, turn or command waiting", async () => {
  const { stdout, stderr } = await oxbow(["--run", "-", "--keep-going"], { cwd: root, input: LINES });
  expect(stdout).toContain("a.txt");
  expect(stdout + stderr).toMatch(/waits for \S+, which is a named pipe/);
  expect(stderr).toContain("AGENTS.md is a named pipe, not a file");
  const added = await oxbow(["mcp", "add", "x", "--scope", "project", "--", "echo"], { cwd: root });
  expect(added.stderr).toContain("is a named pipe, not a file");
});
