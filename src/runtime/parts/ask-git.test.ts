import { execFileSync } from "node:child_process";
import { mkdir, realpath, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { temporaryFolder } from "../../../test/support/program.js";
import { verifies } from "../../../test/verifies.js";
import { readCommand } from "../../security/permissions/read-command.js";
import { QUIET_GIT_ENVIRONMENT } from "../../security/shell/programs/quiet-git.js";
import { askGit } from "./ask-git.js";

verifies(["P3", "P9"], "git commands ask where they would show files that hold secrets", async () => {
  const root = await realpath(await temporaryFolder());
  const env = { PATH: process.env.PATH ?? "", HOME: root, ...QUIET_GIT_ENVIRONMENT };
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: root, env, encoding: "utf8" });
  const put = (path: string, text: string) => writeFile(join(root, path), text);
  git("init", "-q", "-b", "main");
  await mkdir(join(root, "src"));
  await put("src/a.ts", "one\n");
  git("add", ".");
  git("commit", "-qm", "first");
  await put(".env", "A=1\n");
  git("add", "-f", ".");
  git("commit", "-qm", "second");
  await put("src/a.ts", "two\n");
  git("commit", "-qam", "third");
  const blob = git("rev-parse", "HEAD:.env").trim();
  const verdicts = (commands: readonly string[]) =>
    commands.map((command) => {
      const options = { workspace: root, isQuietRepository: () => true, askGit: askGit(root, env) };
      return [command, readCommand(command, options).verdict];
    });
  const expectAll = (commands: readonly string[], verdict: string) =>
    expect(verdicts(commands)).toEqual(commands.map((command) => [command, verdict]));
  expectAll(
    [
      ...[
        "git show HEAD~1",
        "git log -p",
        "git log -p -n 2",
        "git log --patch --oneline",
        "git diff HEAD~2",
        "git grep A",
      ],
      ...["git diff HEAD~2 HEAD --word-diff", `git show ${blob}`, `git cat-file -p ${blob}`, "git grep -n A HEAD"],
      ...["git show HEAD:.env", "git diff HEAD~2 -- .env", "timeout 5 git show HEAD~1", "git log -U5 --all"],
    ],
    "ask",
  );
  expectAll(
    [
      ...["git show HEAD", "git log -p -1", "git diff", "git diff HEAD~1", "git log --stat", "git log --oneline -5"],
      ...[
        "git grep one -- src",
        "git show HEAD:src/a.ts",
        "git log -p -n 3 -- src",
        "git diff HEAD~2 -- src",
        "git status",
      ],
    ],
    "read-only",
  );
  git("rm", "-q", "--cached", ".env");
  git("commit", "-qm", "fourth");
  await rm(join(root, ".env"));
  expectAll(["git grep A", "git diff"], "read-only");
  expectAll(["git grep A HEAD~1", "git log -p"], "ask");
});
