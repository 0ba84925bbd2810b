import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { needs } from "../../../test/support/needs.js";
import { findGuards } from "./guards.js";
import { outsideGitFolder } from "./outside-repository.js";
import { PATH, SandboxTestbed } from "./sandbox-testbed.js";

let bed: SandboxTestbed;

beforeEach(() => {
  bed = new SandboxTestbed();
});
afterEach(() => bed.close());

const identity = "-c user.name=n -c user.email=e -c commit.gpgsign=false -c protocol.file.allow=always".split(" ");

function git(folder: string, ...args: string[]): string {
  const env = { PATH, HOME: bed.outside, GIT_CONFIG_NOSYSTEM: "1" };
  return execFileSync("git", ["-C", folder, ...identity, ...args], { encoding: "utf8", env, stdio: "pipe" }).trim();
}

/** A repository with one commit. */
function repository(folder: string): string {
  mkdirSync(folder, { recursive: true });
  git(folder, "init", "-q", "-b", "main");
  bed.write(join(folder, "file"), "one\n");
  git(folder, "add", "file");
  git(folder, "commit", "-q", "-m", "first");
  return folder;
}

const COMMIT = `git ${identity.join(" ")} commit -q --allow-empty -m second`;

describe("[P8] guarded paths at the top of a folder", () => {
  const guards = (access: "direct" | "held", repositories: "guarded" | "read-only" = "guarded") =>
    findGuards({ roots: [bed.workspace], names: [".oxbow"], repositories, access });
  const places = (...names: readonly string[]) => names.map((name) => bed.path(name));

  it("are those that exist: with a view only Oxbow's own, because the gate judges the others", () => {
    expect(guards("direct")).toEqual({ pinned: [], readOnly: [] });
    repository(bed.workspace);
    for (const file of [".vscode/tasks.json", ".npmrc", ".oxbow/settings.toml", "deep/down/.envrc", "package.json"])
      bed.write(bed.path(file), "x");
    const readOnly = places(".git/config", ".git/hooks", ".npmrc", ".oxbow", ".vscode");
    expect(guards("direct")).toEqual({ pinned: places(".git"), readOnly });
    expect(guards("direct", "read-only")).toEqual({
      pinned: [],
      readOnly: places(".git", ".npmrc", ".oxbow", ".vscode"),
    });
    expect(guards("held")).toEqual({ pinned: [], readOnly: places(".oxbow") });
    expect(guards("held", "read-only")).toEqual({ pinned: [], readOnly: places(".git", ".oxbow") });
  });

  it("include a .git that is a file, and all of one with a link in it", () => {
    bed.write(bed.path(".git"), "gitdir: elsewhere");
    expect(guards("direct").readOnly).toEqual(places(".git"));
    execFileSync("rm", [bed.path(".git")]);
    repository(bed.workspace);
    execFileSync("mv", [bed.path(".git/config"), join(bed.outside, "config")]);
    symlinkSync(join(bed.outside, "config"), bed.path(".git/config"));
    expect(guards("direct").readOnly).toEqual(places(".git"));
  });

  it("are the hooks and the configuration of a folder that is a git folder itself", () => {
    repository(bed.workspace);
    const root = bed.path(".git");
    const { readOnly } = findGuards({ roots: [root], names: [], repositories: "guarded", access: "direct" });
    expect(readOnly).toEqual(places(".git/config", ".git/hooks"));
  });

  it("leave out links, which cannot be mounted on", () => {
    symlinkSync(bed.outside, bed.path(".oxbow"));
    expect(guards("direct").readOnly).toEqual([]);
  });
});

needs("sandbox").describe("[P8] changing guarded paths where commands write directly", () => {
  const attempts: [what: string, script: string, changed: string][] = [
    ["a new hook", "echo x >.git/hooks/pre-commit", ".git/hooks/pre-commit"],
    ["a hook by rename", "echo x >h; mv h .git/hooks/pre-commit", ".git/hooks/pre-commit"],
    [
      "another folder of hooks",
      "mv .git/hooks .git/old; mkdir .git/hooks; echo x >.git/hooks/pre-commit",
      ".git/hooks/pre-commit",
    ],
    ["another git folder", "mv .git old; cp -r old .git; echo x >.git/hooks/pre-commit", ".git/hooks/pre-commit"],
    [
      "no git folder, then another",
      "rm -rf .git/hooks .git/config; rm -rf .git; mkdir -p .git/hooks; echo x >.git/hooks/pre-commit",
      ".git/hooks/pre-commit",
    ],
    [
      "a link in its place",
      "mkdir evil; echo x >evil/pre-commit; rm -rf .git/hooks; ln -sT ../evil .git/hooks",
      ".git/hooks/pre-commit",
    ],
    ["a setting", "git config core.fsmonitor ./evil", ".git/config"],
    ["a setting by hand", "echo '[core] fsmonitor=./evil' >>.git/config", ".git/config"],
    ["a task of an editor", "echo x >.vscode/tasks.json", ".vscode/tasks.json"],
    ["Oxbow's own folder", "echo x >.oxbow/settings.toml", ".oxbow/settings.toml"],
    [
      "the folder of an editor by rename",
      "mv .vscode old; mkdir .vscode; echo x >.vscode/tasks.json",
      ".vscode/tasks.json",
    ],
  ];
  it.each(attempts)("%s", async (_, script, changed) => {
    repository(bed.workspace);
    for (const file of [".vscode/tasks.json", ".oxbow/settings.toml"]) bed.write(bed.path(file), "before");
    const content = () => (existsSync(bed.path(changed)) ? readFileSync(bed.path(changed), "utf8") : "");
    const before = content();
    await bed.inside(script, { env: { HOME: bed.outside } });
    expect(content()).toBe(before);
    expect(git(bed.workspace, "config", "--file", ".git/config", "core.bare")).toBe("false");
    await bed.unprotected(script, { env: { HOME: bed.outside } });
    expect(content()).not.toBe(before);
  });

  it("leaves work with git as it is, and nothing behind", async () => {
    repository(bed.workspace);
    const before = readdirSync(bed.path(".git")).sort();
    const script = `set -e; echo two >file; git add file; ${COMMIT}; git checkout -q -b topic; git stash list; git gc -q; git log --format=%s | wc -l; git status --short`;
    const ran = await bed.inside(script, { env: { HOME: bed.outside, GIT_CONFIG_NOSYSTEM: "1" } });
    expect(ran).toMatchObject({ code: 0, output: "2" });
    expect(git(bed.workspace, "status", "--short")).toBe("");
    const after = readdirSync(bed.path(".git")).filter((name) => !before.includes(name));
    expect(after.filter((name) => !/^(packed-refs|gc\.pid|info|ORIG_HEAD)$/.test(name))).toEqual([]);
    expect(readdirSync(bed.workspace).sort()).toEqual([".git", "file"]);
  });

  it("can commit where the repository lies outside, when a person allows its folder", async () => {
    const main = repository(join(bed.outside, "main"));
    git(main, "worktree", "add", "-q", bed.path("tree"));
    const tree = bed.path("tree");
    expect(outsideGitFolder(tree)).toBe(realpathSync(join(main, ".git")));
    const commit = async (writable: string[]) => {
      const sandbox = bed.sandbox({ policy: { writable } });
      const script = `${COMMIT}; code=$?; echo x >${main}/.git/hooks/pre-commit; exit $code`;
      const wrapped = await sandbox.wrap({
        program: "/bin/sh",
        args: ["-c", script],
        cwd: tree,
        env: { PATH, HOME: bed.outside },
      });
      const { code } = await bed.run(wrapped);
      await wrapped.ended();
      return code;
    };
    expect(await commit([tree])).not.toBe(0);
    expect(await commit([tree, join(main, ".git")])).toBe(0);
    expect(existsSync(join(main, ".git/hooks/pre-commit"))).toBe(false);
  });

  it("does not take a planted .git file for a worktree", () => {
    repository(join(bed.outside, "main"));
    bed.write(bed.path(".git"), `gitdir: ${join(bed.outside, "main/.git")}\n`);
    expect(outsideGitFolder(bed.workspace)).toBeUndefined();
  });
});
