/** The git commands that never ask are run in a repository whose configuration names a program wherever it can. */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { judgeCommand } from "./judge.js";

const COMMANDS = [
  "git log",
  "git log --oneline -5",
  "git --no-pager log -3",
  "git log --stat --summary --dirstat",
  "git log --numstat --shortstat",
  "git log --name-status --follow -- b.txt",
  "git log --graph --all --decorate --format='%h %an %s'",
  "git log --grep=x -i --author=me --since=yesterday",
  "git remote -v",
  "git remote get-url origin",
  "git ls-files -s",
  "git describe --all --always",
  "git shortlog -sn HEAD",
  "git config --get user.name",
  "git stash list",
  "git worktree list",
  "git rev-parse HEAD",
  "git rev-list --count HEAD",
  "git merge-base HEAD HEAD",
  "git show-ref",
  "git ls-tree -r HEAD",
  "git --help",
];

const PROGRAMS = [
  ..."core.fsmonitor core.pager core.editor core.sshCommand core.alternateRefsCommand core.askPass".split(" "),
  ..."diff.external diff.mine.textconv diff.mine.command gpg.program credential.helper filter.mine.clean".split(" "),
];

let folder: string;
const environment = { PATH: process.env.PATH, HOME: "/nowhere", GIT_CONFIG_NOSYSTEM: "1" };

function git(...args: string[]): string {
  return execFileSync("git", args, { cwd: join(folder, "work"), env: environment, encoding: "utf8" }).trim();
}

/** Tells whether running the command started the program of the configuration. */
function startsProgram(command: string, variables: Readonly<Record<string, string>>): boolean {
  rmSync(join(folder, "started"), { force: true });
  const env = { ...environment, GIT_PAGER: "cat", ...variables };
  spawnSync("bash", ["-c", command], { cwd: join(folder, "work"), env, stdio: "ignore" });
  return existsSync(join(folder, "started"));
}

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "oxbow-git-")));
  mkdirSync(join(folder, "work"));
  const program = join(folder, "program");
  writeFileSync(program, `#!/bin/sh\n: > "${join(folder, "started")}"\ncat\n`);
  chmodSync(program, 0o755);
  git("init", "-q");
  git("config", "user.name", "me");
  git("config", "user.email", "me@localhost");
  git("remote", "add", "origin", "http://localhost/x");
  writeFileSync(join(folder, "work", ".gitattributes"), "*.txt diff=mine filter=mine\n");
  writeFileSync(join(folder, "work", "b.txt"), "one\n");
  git("add", ".");
  git("commit", "-qm", "x");
  const person = "me <me@localhost> 1700000000 +0000";
  const signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----";
  const signed = `tree ${git("rev-parse", "HEAD^{tree}")}\nauthor ${person}\ncommitter ${person}\n${signature}\n\nsigned\n`;
  writeFileSync(join(folder, "commit"), signed);
  git("update-ref", "HEAD", git("hash-object", "-t", "commit", "-w", join(folder, "commit")));
  git("update-ref", "--create-reflog", "-m", "kept", "refs/stash", "HEAD");
  for (const name of PROGRAMS) git("config", name, program);
  git("config", "log.showSignature", "true");
  git("config", "format.pretty", "%G? %h");
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("git without a question", () => {
  verifies(["P3"], "runs nothing that a repository's configuration names", () => {
    for (const command of COMMANDS) {
      const { verdict, environment: variables = {} } = judgeCommand(command);
      expect([command, verdict, startsProgram(command, variables)]).toEqual([command, "read-only", false]);
    }
  });

  it("needs the environment that comes with the verdict", () => {
    expect(startsProgram("git log --oneline", {})).toBe(true);
    expect(judgeCommand("ls").environment).toBeUndefined();
  });

  it("is not offered for what does run such programs", () => {
    for (const command of ["git log -p", "git diff HEAD", "git show HEAD", "git status"]) {
      expect([command, startsProgram(command, {}), judgeCommand(command).verdict]).toEqual([command, true, "ask"]);
    }
  });
});
