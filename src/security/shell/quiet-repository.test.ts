/** Repositories made by git itself: a plain one, and one for every way to have a program run by looking. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { readCommand } from "../permissions/read-command.js";
import { QUIET_GIT_ENVIRONMENT } from "./programs/quiet-git.js";
import { isQuietConfig, isQuietRepository } from "./quiet-repository.js";

let base: string;
const environment = { PATH: process.env.PATH, HOME: "/nowhere", GIT_CONFIG_NOSYSTEM: "1" };
const git = (cwd: string, ...args: string[]) => execFileSync("git", args, { cwd, env: environment, encoding: "utf8" });
const marker = () => join(base, "started");
const program = () => join(base, "program");

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "oxbow-quiet-")));
  writeFileSync(program(), `#!/bin/sh\n: > "${marker()}"\ncat\n`);
  chmodSync(program(), 0o755);
  const plain = join(base, "plain");
  mkdirSync(join(plain, "src"), { recursive: true });
  git(plain, "init", "-q", "-b", "main");
  git(plain, "config", "user.name", "me");
  git(plain, "config", "user.email", "me@localhost");
  git(plain, "remote", "add", "origin", "https://localhost/x.git");
  git(plain, "config", "branch.main.remote", "origin");
  writeFileSync(join(plain, ".gitattributes"), "*.txt diff=mine filter=mine\n");
  for (const name of ["a.txt", "src/b.ts", ".env"]) writeFileSync(join(plain, name), "one\n");
  git(plain, "add", ".");
  git(plain, "commit", "-qm", "first");
  writeFileSync(join(plain, "a.txt"), "two\n");
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** A copy of the plain repository, changed. */
function repository(name: string, change: (folder: string) => void): string {
  const folder = join(base, name.replaceAll(/\W/g, "-"));
  cpSync(join(base, "plain"), folder, { recursive: true });
  change(folder);
  return folder;
}

/** The home folder of the person whose configuration counts. */
const isQuiet = (folder: string, home = "/nowhere") =>
  isQuietRepository(folder, {
    environment: { PATH: process.env.PATH ?? "", HOME: home, GIT_CONFIG_NOSYSTEM: "1", ...QUIET_GIT_ENVIRONMENT },
  });

const verdict = (command: string, folder = join(base, "plain")) =>
  readCommand(command, { workspace: folder, isQuietRepository: () => isQuiet(folder) }).verdict;

const LOOKS = [
  "git status",
  "git status --short --branch",
  "git diff",
  "git diff --stat HEAD -- src",
  "git diff --cached | head -20",
  "git --no-pager diff",
  "git --no-optional-locks -P log -p -1",
  "git show HEAD",
  "git log -p -2",
  "git blame -L 1,1 a.txt",
  "git branch --show-current",
  "git branch -a",
  "git tag",
  "git tag -l 'v*'",
  "git grep -c . -- a.txt",
  "git ls-files -mo --exclude-standard",
  "git cat-file -p HEAD",
  "git for-each-ref --sort=-creatordate --count=3 --format='%(refname)'",
];

describe("git in a repository that names no programs", () => {
  verifies(["P3"], "looks at the work tree unasked, and runs nothing", () => {
    for (const command of LOOKS) {
      expect([command, verdict(command)]).toEqual([command, "read-only"]);
      const env = { ...environment, ...QUIET_GIT_ENVIRONMENT };
      const { status, stderr } = spawnSync("bash", ["-c", command], {
        cwd: join(base, "plain"),
        env,
        encoding: "utf8",
      });
      expect([command, status, stderr]).toEqual([command, 0, ""]);
    }
    expect(existsSync(marker())).toBe(false);
    expect(verdict("git status", join(base, "plain", "src"))).toBe("read-only");
  });

  it.each([
    "git diff --output=x",
    "git diff --no-index /etc/passwd a.txt",
    "git diff --ext-diff",
    "git show --textconv HEAD",
    "git show HEAD:.env",
    "git diff -- .env",
    "git show --format=%G? HEAD",
    "git -C src status",
    "git -c core.pager=x status",
    "git --no-pager -c core.pager=x status",
    "git --no-pager diff -- .env",
    "git --paginate status",
    "cd src && git status",
    "git status --help",
    "git status $(touch x)",
    "GIT_EXTERNAL_DIFF=./x git diff",
    "git branch new",
    "git tag v1",
    "git grep -Ox one",
    "git grep one HEAD:.env",
    "git grep one -- '.e*'",
    "git cat-file -p HEAD:.env",
    "git cat-file --filters HEAD:a.txt",
    "git for-each-ref --format='%(signature)'",
    "git for-each-ref --sort=signature:grade",
    "git ls-files -X list",
    "git checkout -- a.txt",
  ])("still asks for %s", (command) => {
    expect(verdict(command)).not.toBe("read-only");
  });

  const set = (name: string, value?: string) =>
    [name, (folder: string) => void git(folder, "config", name, value ?? program())] as const;
  const hostile: readonly (readonly [string, (folder: string) => void])[] = [
    set("core.fsmonitor"),
    set("core.pager"),
    set("core.hooksPath", "/tmp"),
    set("core.attributesFile", "/tmp/x"),
    set("core.worktree", "/"),
    set("core.sshCommand"),
    set("core.alternateRefsCommand"),
    set("diff.external"),
    set("diff.mine.textconv"),
    set("diff.mine.command"),
    set("filter.mine.clean"),
    set("filter.mine.process"),
    set("gpg.program"),
    set("include.path", "/tmp/x"),
    set("includeIf.gitdir:/.path", "/tmp/x"),
    set("remote.origin.promisor", "true"),
    set("remote.origin.uploadpack"),
    set("extensions.partialClone", "origin"),
    set("submodule.x.update", "!x"),
    [
      "a hook that looking starts",
      (folder) => writeFileSync(join(folder, ".git/hooks/post-index-change"), "#!/bin/sh\n"),
    ],
    [
      "a second configuration",
      (folder) => writeFileSync(join(folder, ".git/config.worktree"), "[core]\n\tpager = x\n"),
    ],
    ["submodules", (folder) => writeFileSync(join(folder, ".gitmodules"), '[submodule "x"]\n')],
    ["a common folder elsewhere", (folder) => writeFileSync(join(folder, ".git/commondir"), "../../plain/.git\n")],
    [
      "a repository in the index",
      (folder) => {
        cpSync(join(base, "plain"), join(folder, "inner"), { recursive: true });
        git(folder, "-c", "advice.addEmbeddedRepo=false", "add", "inner");
      },
    ],
    [
      "a .git that is a file",
      (folder) => {
        rmSync(join(folder, ".git"), { recursive: true });
        writeFileSync(join(folder, ".git"), `gitdir: ${join(base, "plain", ".git")}\n`);
      },
    ],
    [
      "a .git that is a link",
      (folder) => {
        rmSync(join(folder, ".git"), { recursive: true });
        symlinkSync(join(base, "plain", ".git"), join(folder, ".git"));
      },
    ],
    [
      "a configuration that is a link",
      (folder) => {
        rmSync(join(folder, ".git/config"));
        symlinkSync(join(base, "plain", ".git/config"), join(folder, ".git/config"));
      },
    ],
  ];

  it.each(hostile)("asks where there is %s", (name, change) => {
    const folder = repository(name, change);
    expect([isQuiet(folder), verdict("git status", folder)]).toEqual([false, "ask"]);
    for (const list of ["git branch -a", "git tag -l"]) expect([list, verdict(list, folder)]).toEqual([list, "ask"]);
    expect(verdict("git log --oneline", folder)).toBe("read-only");
  });

  it("asks in a folder that git may take for a repository itself", () => {
    const folder = repository("bare below", () => {});
    git(folder, "init", "-q", "--bare", "inner");
    expect(isQuiet(join(folder, "inner"))).toBe(false);
    expect(isQuiet(join(folder, "src"))).toBe(true);
  });

  it.each([
    ['[core]\n\tbare = false\\\n[filter "x"]'],
    ['[core]\n\tabbrev = "7\n[diff]\n\texternal = x"\n'],
    ["[core] fsmonitor = x\n"],
    ["[core]\n\tBARE = true\n"],
    ["[core.fsmonitor]\n"],
    ['[remote "a\\"]\n[core] fsmonitor=x"]\n'],
    ["fsmonitor = x\n"],
    ["\ufeff[core]\n"],
  ])("does not take what it does not understand for harmless: %j", (text) => {
    expect(isQuietConfig(text)).toBe(false);
  });

  it("is not found where there is none", () => {
    mkdirSync(join(base, "no", ".git"), { recursive: true });
    expect(isQuiet(join(base, "no"))).toBe(false);
  });
});
