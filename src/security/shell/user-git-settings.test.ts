/** Real repositories in which the user's git, run like a command without a question, starts a program of the repository. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { QUIET_GIT_ENVIRONMENT } from "./programs/quiet-git.js";
import { isQuietRepository } from "./quiet-repository.js";

let base: string;
let root: string;
let home: string;
let marker: string;

const environment = () => ({
  ...{ PATH: process.env.PATH ?? "", HOME: home, GIT_CONFIG_NOSYSTEM: "1", GIT_PAGER: "cat" },
  ...QUIET_GIT_ENVIRONMENT,
});
const git = (cwd: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=Ann", "-c", "user.email=ann@localhost", ...args], {
    cwd,
    env: { ...environment(), GIT_CONFIG_COUNT: "0" },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
/** Runs like a command without a question: true if it started the planted program. */
function runs(...args: string[]): boolean {
  rmSync(marker, { force: true });
  spawnSync("git", args, { cwd: root, env: environment() });
  return existsSync(marker);
}
function write(path: string, content: string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  chmodSync(path, mode);
}
const planted = (path: string) => write(path, `#!/bin/sh\n: > "${marker}"\ncat 2>/dev/null\n`, 0o755);
const ownConfig = (text: string) => write(join(home, ".gitconfig"), text);
const isQuiet = () => isQuietRepository(root, { environment: environment() });

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "oxbow-own-git-")));
  [root, home, marker] = [join(base, "workspace"), join(base, "home"), join(base, "MARKER")];
  mkdirSync(root);
  mkdirSync(home);
  git(root, "init", "-q", "-b", "main");
  write(join(root, "a.txt"), "one\n");
  write(join(root, ".gitattributes"), "*.txt diff=mine filter=mine\n");
  git(root, "add", ".");
  git(root, "commit", "-qm", "first");
});
afterEach(() => rmSync(base, { recursive: true }));

describe("the person's own git configuration", () => {
  verifies(["P3"], "asks where a relative core.hooksPath makes looking start a hook of the repository", () => {
    ownConfig("[core]\n\thooksPath = hooks\n");
    expect(isQuiet()).toBe(true);
    planted(join(root, "hooks/post-index-change"));
    utimesSync(join(root, "a.txt"), 1, 1);
    expect(runs("diff")).toBe(true);
    expect(isQuiet()).toBe(false);
  });

  it.each(["~/linked", ".git/../hooks", "./hooks"])("asks also for core.hooksPath = %s", (value) => {
    symlinkSync(join(root, "hooks"), join(home, "linked"));
    ownConfig(`[include]\n\tpath = more\n`);
    write(join(home, "more"), `[core]\n\thooksPath = ${value}\n`);
    planted(join(root, "hooks/post-index-change"));
    expect(isQuiet()).toBe(false);
  });

  it("asks where the repository itself names a folder with such a hook, or one outside", () => {
    git(root, "config", "core.hooksPath", ".husky/_");
    write(join(root, ".husky/_/pre-commit"), "#!/bin/sh\n", 0o755);
    expect(isQuiet()).toBe(true);
    planted(join(root, ".husky/_/post-index-change"));
    expect(isQuiet()).toBe(false);
    git(root, "config", "core.hooksPath", join(home, "hooks"));
    expect(isQuiet()).toBe(false);
  });

  it("leaves hooks that lie outside to the person", () => {
    ownConfig("[core]\n\thooksPath = ~/hooks\n");
    write(join(home, "hooks/post-index-change"), "#!/bin/sh\n", 0o755);
    expect(isQuiet()).toBe(true);
    ownConfig(`[core]\n\thooksPath = ${join(home, "hooks")}\n`);
    expect(isQuiet()).toBe(true);
  });

  it.each([
    ["filter", "clean", "./tool"],
    ["filter", "clean", "tools/tool"],
    ["filter", "clean", "sh tools/tool"],
    ["filter", "clean", "cat; ./tool"],
    ["diff", "textconv", "./tool"],
  ])("asks where its %s.mine.%s is the program %s of the repository", (section, key, value) => {
    ownConfig(`[${section} "mine"]\n\t${key} = "${value}"\n`);
    planted(join(root, "tool"));
    planted(join(root, "tools/tool"));
    write(join(root, "a.txt"), "two\n");
    expect(runs("diff")).toBe(true);
    expect(isQuiet()).toBe(false);
  });

  it("takes ordinary settings of a person for the person's", () => {
    ownConfig(`[user]\n\tname = Ann\n[alias]\n\tst = status\n[core]\n\tpager = less\n\teditor = vim\n\texcludesFile = ~/.ignore
\tfsmonitor = true\n[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\tsmudge = git-lfs smudge -- %f\n\tprocess = git-lfs filter-process
\trequired = true\n[diff "exif"]\n\ttextconv = exiftool\n[credential]\n\thelper = !/usr/bin/gh auth git-credential\n[commit]
\tgpgsign = true\n[gpg]\n\tprogram = gpg2\n[blame]\n\tignoreRevsFile = .git-blame-ignore-revs\n`);
    expect(isQuiet()).toBe(true);
  });

  it("asks where a file that it names in every repository is a link to one outside", () => {
    ownConfig("[blame]\n\tignoreRevsFile = .git-blame-ignore-revs\n");
    write(join(home, "key"), "do not show this\n");
    symlinkSync(join(home, "key"), join(root, ".git-blame-ignore-revs"));
    const { stderr } = spawnSync("git", ["blame", "a.txt"], { cwd: root, env: environment(), encoding: "utf8" });
    expect(stderr).toContain("do not show this");
    expect(isQuiet()).toBe(false);
  });

  it("counts as the repository's where it lies in the work tree", () => {
    ownConfig("[include]\n\tpath = ../workspace/shared.config\n");
    write(join(root, "shared.config"), "[core]\n\tabbrev = 9\n");
    expect(isQuiet()).toBe(true);
    write(join(root, "shared.config"), "[diff]\n\texternal = x\n");
    expect(isQuiet()).toBe(false);
  });

  it("asks where it has objects fetched", () => {
    ownConfig('[remote "origin"]\n\tpromisor = true\n');
    expect(isQuiet()).toBe(false);
  });
});

describe("submodules that git enters by itself", () => {
  beforeEach(() => {
    git(root, "init", "-q", "lib");
    git(join(root, "lib"), "commit", "-q", "--allow-empty", "-m", "x");
    planted(join(base, "program"));
    git(join(root, "lib"), "config", "core.fsmonitor", join(base, "program"));
    git(join(root, "lib"), "config", "filter.mine.clean", join(base, "program"));
    write(join(root, "lib/.gitattributes"), "* filter=mine\n");
    write(join(root, "lib/b"), "x\n");
    git(join(root, "lib"), "add", ".");
    rmSync(marker, { force: true });
    git(root, "-c", "advice.addEmbeddedRepo=false", "add", "lib");
  });
  /** A file that looks changed is run through the filter again. */
  const touched = () => write(join(root, "lib/b"), "x\n");

  verifies(["P3"], "are seen in every form of the index, also in a split one", () => {
    for (const change of [["--index-version=2"], ["--index-version=4"], ["--split-index"]]) {
      git(root, "update-index", ...change);
      touched();
      expect([change, runs("status")]).toEqual([change, true]);
      expect([change, isQuiet()]).toEqual([change, false]);
    }
  });

  it("are seen in a repository with the longer hashes", () => {
    for (const name of [".git", "lib/.git"]) rmSync(join(root, name), { recursive: true });
    git(root, "init", "-q", "--object-format=sha256");
    git(root, "add", "a.txt");
    expect(isQuiet()).toBe(true);
    git(root, "init", "-q", "--object-format=sha256", "lib");
    git(join(root, "lib"), "commit", "-q", "--allow-empty", "-m", "x");
    git(root, "-c", "advice.addEmbeddedRepo=false", "add", "lib");
    expect(isQuiet()).toBe(false);
  });

  it("an index without them is quiet in each form but the split one", () => {
    git(root, "rm", "-q", "-f", "--cached", "lib");
    for (const version of ["2", "3", "4"]) {
      git(root, "update-index", `--index-version=${version}`);
      git(root, "add", "-N", "lib/../a.txt");
      expect([version, isQuiet()]).toEqual([version, true]);
    }
    write(join(root, ".git/index"), "DIRC and something else");
    expect(isQuiet()).toBe(false);
  });
});

describe("what the sandbox puts where nothing may be created", () => {
  verifies(["P3"], "does not make a repository ask", () => {
    write(join(root, ".git/commondir"), ".\n");
    write(join(root, ".git/config.worktree"), "");
    mkdirSync(join(root, ".git/modules"));
    expect(isQuiet()).toBe(true);
    write(join(root, ".git/commondir"), "../elsewhere\n");
    expect(isQuiet()).toBe(false);
  });
});

describe("links in the git folder", () => {
  it.each([".git/info/exclude", ".git/rebase-merge/done", ".git/rebase-apply", ".git/ORIG_HEAD"])(
    "ask where %s leads out",
    (name) => {
      rmSync(join(root, name), { force: true });
      mkdirSync(dirname(join(root, name)), { recursive: true });
      symlinkSync(join(home, "key"), join(root, name));
      expect(isQuiet()).toBe(false);
    },
  );

  it("ask where the list of borrowed object stores is a pipe, without waiting for it", () => {
    mkdirSync(join(root, ".git/objects/info"), { recursive: true });
    execFileSync("mkfifo", [join(root, ".git/objects/info/alternates")]);
    expect(isQuiet()).toBe(false);
  });
});
